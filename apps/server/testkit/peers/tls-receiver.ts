import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collect, type ReceivedRequest } from './receiver.ts';

/** A certificate authority of our own, made by openssl, and what it signs. */
export interface TestAuthority {
  /** Its certificate: the file for NODE_EXTRA_CA_CERTS, and the text. */
  file: string;
  certificate: string;
  /** A key and a certificate for a host name, good for a day; with fewer than none it has expired. */
  issue(host: string, days?: number): Promise<{ key: string; cert: string }>;
  /** Signs a request (PEM) with the names that are in it. */
  sign(request: string, days: number): Promise<string>;
  remove(): Promise<void>;
}

export async function createAuthority(): Promise<TestAuthority> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-ca-'));
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=Test authority',
    '-days',
    '1',
  );
  let issued = 0;
  return {
    file: at('ca.pem'),
    certificate: await readFile(at('ca.pem'), 'utf8'),
    async issue(host, days = 1) {
      const name = `host${++issued}`;
      await writeFile(at(`${name}.ext`), `subjectAltName=DNS:${host}\n`);
      openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${host}`);
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', `${name}.ext`];
      openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, '-days', String(days), ...signed);
      return { key: await readFile(at(`${name}.key`), 'utf8'), cert: await readFile(at(`${name}.pem`), 'utf8') };
    },
    async sign(request, days) {
      const name = `request${++issued}`;
      await writeFile(at(`${name}.csr`), request);
      const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', String(days)];
      openssl('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, '-copy_extensions', 'copyall', ...signed);
      return await readFile(at(`${name}.pem`), 'utf8');
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

interface TlsReceiver {
  port: number;
  requests: (ReceivedRequest & { protocol: string | null })[];
  close(): Promise<void>;
}

/** Receives webhooks over TLS on this machine's own address. */
export async function startTlsReceiver(identity: { key: string; cert: string }): Promise<TlsReceiver> {
  const requests: TlsReceiver['requests'] = [];
  const server = createServer(identity, async (request, response) => {
    const protocol =
      'getProtocol' in request.socket ? (request.socket as import('node:tls').TLSSocket).getProtocol() : null;
    requests.push({
      path: request.url ?? '',
      headers: request.headers,
      body: await collect(request),
      atMs: Date.now(),
      protocol,
    });
    response.writeHead(204).end();
  });
  // A client that does not trust us is not an error of ours.
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
