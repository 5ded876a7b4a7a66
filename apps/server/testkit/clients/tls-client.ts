import { once } from 'node:events';
import { request } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

/** A name that a service with TLS of its own answers to, on this machine. */
interface TlsPeer {
  port: number;
  name: string;
  /** The authority that is trusted, and nobody else. */
  ca: string;
}

/** An open TLS connection, or the error of its handshake. */
export async function openTls({ port, name, ca }: TlsPeer, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, servername: name, ca, ...options });
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined);
  return socket;
}

interface HttpsAnswer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

export async function getOverTls(
  { port, name, ca }: TlsPeer,
  path: string,
  headers: Record<string, string> = {},
): Promise<HttpsAnswer> {
  const asking = request({ host: '127.0.0.1', port, servername: name, ca, path, headers, agent: false });
  const answered = once(asking, 'response');
  asking.end();
  const [response] = (await answered) as [import('node:http').IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** Everything that came until the other side ended the connection. */
export async function readToEnd(socket: TLSSocket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(chunks);
}
