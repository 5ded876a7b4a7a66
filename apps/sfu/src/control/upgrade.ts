import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  commonMediaProtocol,
  MEDIA_CONTROL_PATH,
  mediaProtocols,
  readMediaProtocols,
} from '@parley/contract/media-control';

const CONTROLLER = /^[A-Za-z0-9_-]{16,64}$/;
const SEQUENCE = /^\d{1,15}$/;

interface UpgradeRequest {
  controller: string;
  /** The last event that the controller has seen. */
  since: number | undefined;
  /** The version of the protocol to speak with it. */
  protocol: number;
}

/** Browsers say where a page is from, servers do not: no page has business with a media node. */
export const isFromPage = ({ headers }: IncomingMessage): boolean => headers.origin !== undefined;

/** What an upgrade asks for, or the status that refuses it. Nothing of it is authenticated yet. */
export function readUpgrade(request: IncomingMessage): UpgradeRequest | { status: string } {
  if (isFromPage(request)) return { status: '403 Forbidden' };
  const url = URL.parse(request.url ?? '', 'http://node');
  if (!url) return { status: '400 Bad Request' };
  if (url.pathname !== MEDIA_CONTROL_PATH) return { status: '404 Not Found' };
  const controller = url.searchParams.get('controller') ?? '';
  const since = url.searchParams.get('since');
  if (!CONTROLLER.test(controller)) return { status: '400 Bad Request' };
  if (since !== null && !SEQUENCE.test(since)) return { status: '400 Bad Request' };
  const theirs = readMediaProtocols(url.searchParams.get('protocols'));
  if (theirs === null) return { status: '400 Bad Request' };
  const protocol = commonMediaProtocol(mediaProtocols, theirs);
  if (protocol === null) return { status: '426 Upgrade Required' };
  return { controller, protocol, since: since === null ? undefined : Number(since) };
}

/** Whole, and not only our half: who is refused could keep theirs open for ever, and with enough of them the node shut. */
export function refuse(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
