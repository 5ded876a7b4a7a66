import { type KeyObject, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** Apple's push service: HTTP/2, a signed token with each request, JSON reasons. */
export interface ApnsService {
  url: string;
  requests: { path: string; headers: IncomingHttpHeaders; payload: Record<string, unknown> }[];
  /** What to answer, by the device's token; 200 unless it says otherwise. */
  answers: Map<string, ({ status: number; reason: string } | 'cut')[]>;
  /** Connections made. */
  sessions: () => number;
  close(): Promise<void>;
}

interface Signer {
  publicKey: KeyObject;
  teamId: string;
  keyId: string;
}

export async function startApnsService(signer: Signer): Promise<ApnsService> {
  const open = new Set<ServerHttp2Session>();
  let sessions = 0;
  const server = createServer();
  server.on('session', (session) => {
    sessions++;
    open.add(session);
    session.on('close', () => open.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const path = String(headers[':path']);
      if (!isSigned(headers, signer)) return answer(403, 'InvalidProviderToken');
      service.requests.push({ path, headers, payload: JSON.parse(Buffer.concat(chunks).toString()) });
      const chosen = service.answers.get(path.split('/').at(-1) ?? '')?.shift();
      if (chosen === 'cut') return stream.session?.destroy();
      return chosen ? answer(chosen.status, chosen.reason) : answer(200);
    });
    function answer(status: number, reason?: string): void {
      stream.respond({ ':status': status, 'apns-id': 'an-id' });
      stream.end(reason === undefined ? '' : JSON.stringify({ reason }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service: ApnsService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answers: new Map(),
    sessions: () => sessions,
    async close() {
      for (const session of open) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}

function isSigned(headers: IncomingHttpHeaders, { publicKey, teamId, keyId }: Signer): boolean {
  const [head = '', claims = '', signature = ''] = String(headers['authorization']).replace('bearer ', '').split('.');
  const [first, second] = [head, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  const isOurs = first.alg === 'ES256' && first.kid === keyId && second.iss === teamId;
  const isFresh = Math.abs(Date.now() / 1000 - second.iat) < 3_600;
  return (
    isOurs &&
    isFresh &&
    verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    )
  );
}
