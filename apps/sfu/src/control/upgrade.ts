import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  commonMediaProtocol,
  MEDIA_CONTROL_PATH,
  MEDIA_TURN_PATH,
  MEDIA_TURN_UPGRADE,
  mediaProtocols,
  readMediaProtocols,
} from '@parley/contract/media-control';
import { type Address, parseAddress } from '@parley/turn/addresses';

const CONTROLLER = /^[A-Za-z0-9_-]{16,64}$/;
const SEQUENCE = /^\d{1,15}$/;

type UpgradeRequest =
  /** `since`: the last event that the controller has seen; `protocol`: the version to speak with it. */
  | { is: 'control'; controller: string; protocol: number; since: number | undefined }
  /** A server passes a client of the TURN relay on. */
  | { is: 'turn'; client: Address };

/** Browsers say where a page is from, servers do not: no page has business with a media node. */
export const isFromPage = ({ headers }: IncomingMessage): boolean => headers.origin !== undefined;

/** What an upgrade asks for, or the status that refuses it. Nothing of it is authenticated yet. */
export function readUpgrade(request: IncomingMessage): UpgradeRequest | { status: string } {
  if (isFromPage(request)) return { status: '403 Forbidden' };
  const url = URL.parse(request.url ?? '', 'http://node');
  if (!url) return { status: '400 Bad Request' };
  if (url.pathname === MEDIA_TURN_PATH) return readTurn(url.searchParams);
  if (url.pathname !== MEDIA_CONTROL_PATH) return { status: '404 Not Found' };
  const controller = url.searchParams.get('controller') ?? '';
  const since = url.searchParams.get('since');
  if (!CONTROLLER.test(controller)) return { status: '400 Bad Request' };
  if (since !== null && !SEQUENCE.test(since)) return { status: '400 Bad Request' };
  const theirs = readMediaProtocols(url.searchParams.get('protocols'));
  if (theirs === null) return { status: '400 Bad Request' };
  const protocol = commonMediaProtocol(mediaProtocols, theirs);
  if (protocol === null) return { status: '426 Upgrade Required' };
  return { is: 'control', controller, protocol, since: since === null ? undefined : Number(since) };
}

function readTurn(query: URLSearchParams): UpgradeRequest | { status: string } {
  const client = parseAddress(query.get('client') ?? '', Number(query.get('port') ?? 0) & 0xffff);
  return client ? { is: 'turn', client } : { status: '400 Bad Request' };
}

/** From here on the connection is the client's. */
export function switchToTurn(socket: Duplex): void {
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: ${MEDIA_TURN_UPGRADE}\r\nconnection: upgrade\r\n\r\n`);
}

/** Whole, and not only our half: who is refused could keep theirs open for ever, and with enough of them the node shut. */
export function refuse(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
