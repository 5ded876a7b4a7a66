import { createHash, createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import S3rver, { type Objects } from 's3rver';

const known = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', region: 'us-east-1', bucket: 'parley' };

interface S3ServerOptions {
  secretAccessKey?: string;
  /** What becomes of hashes that a client sends or asks for: stores differ. */
  checksums?: 'kept' | 'ignored' | 'refused';
}

/** s3rver, behind a door that checks signatures (version 4) and may keep checksums, which s3rver itself does not. */
export async function startS3Server({
  secretAccessKey = known.secretAccessKey,
  checksums = 'ignored',
}: S3ServerOptions = {}) {
  const account = { ...known, secretAccessKey };
  const directory = mkdtempSync(join(tmpdir(), 'parley-s3-'));
  const store = new S3rver({
    port: 0,
    address: '127.0.0.1',
    directory,
    silent: true,
    configureBuckets: [{ name: account.bucket, configs: [] }],
  });
  makeWhole(store.store);
  const { port: storePort } = await store.run();
  let isAway = false;
  let hangUps = 0;
  const asked: string[] = [];
  const door = createServer((incoming, answer) => {
    if (isAway || hangUps-- > 0) return incoming.destroy();
    asked.push(incoming.method ?? '');
    const status = isSigned(incoming, secretAccessKey) ? statusOf(incoming) : 403;
    if (status === 200) return void pass(incoming, answer);
    incoming.resume();
    answer.writeHead(status).end();
  });
  const statusOf = ({ headers }: IncomingMessage): number =>
    checksums === 'refused' && headers['x-amz-checksum-algorithm'] ? 501 : 200;
  const hashed = new Set<string>();
  async function pass(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method, url = '', headers } = incoming;
    if (method === 'PUT' && (headers['x-amz-checksum-algorithm'] || headers['x-amz-checksum-sha256'])) hashed.add(url);
    if (checksums === 'kept' && method === 'HEAD' && headers['x-amz-checksum-mode'] && hashed.has(url)) {
      const content = await fetch(`http://127.0.0.1:${storePort}${url}`);
      const hash = createHash('sha256').update(new Uint8Array(await content.arrayBuffer()));
      if (content.ok) answer.setHeader('x-amz-checksum-sha256', hash.digest('base64'));
    }
    forward(incoming, answer, storePort);
  }
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const address = door.address();
  if (!address || typeof address === 'string') throw new Error('The store has no port.');
  return {
    options: { ...account, endpoint: `http://127.0.0.1:${address.port}` },
    /** The method of each request, in the order they came. */
    asked,
    /** Hangs up on everybody until it is back. */
    setAway(away: boolean): void {
      isAway = away;
    },
    /** Hangs up on so many requests, as on those that meet the end of an idle connection. */
    hangUp(times: number): void {
      hangUps = times;
    },
    async close() {
      door.closeAllConnections();
      await new Promise((resolve) => door.close(resolve));
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** As a real store: what is answered is stored, and two writers of one key leave the object of one of them. */
function makeWhole(objects: Objects): void {
  objects.putObject = async ({ bucket, key, content, metadata }) => {
    const bytes = Buffer.isBuffer(content) ? content : await buffer(content);
    const path = objects.getResourcePath(bucket, key, 'object');
    const half = `${path}.${randomUUID()}`;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(half, bytes);
    await rename(half, path);
    const md5 = createHash('md5').update(bytes).digest('hex');
    await objects.putMetadata(bucket, key, metadata, md5);
    return { size: bytes.length, md5 };
  };
}

function forward(incoming: IncomingMessage, answer: ServerResponse, port: number): void {
  const { method, url, headers } = incoming;
  const outgoing = request({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  outgoing.on('error', () => answer.destroy());
  incoming.on('aborted', () => outgoing.destroy());
  incoming.pipe(outgoing);
}

interface Claim {
  credential: string;
  signedHeaders: string;
  signature: string;
  date: string;
  payload: string;
  expiresInSeconds: number;
}

function isSigned(incoming: IncomingMessage, secretAccessKey: string): boolean {
  const url = new URL(incoming.url ?? '', 'http://store');
  const claim = claimOfQuery(url) ?? claimOfHeader(incoming);
  if (!claim) return false;
  const madeAt = Date.parse(claim.date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  const isFresh = Date.now() < madeAt + claim.expiresInSeconds * 1000;
  return isFresh && signatureOf(claim, incoming, url, secretAccessKey) === claim.signature;
}

function claimOfQuery({ searchParams: query }: URL): Claim | null {
  const signature = query.get('X-Amz-Signature');
  if (!signature) return null;
  return {
    signature,
    credential: query.get('X-Amz-Credential') ?? '',
    signedHeaders: query.get('X-Amz-SignedHeaders') ?? '',
    date: query.get('X-Amz-Date') ?? '',
    payload: 'UNSIGNED-PAYLOAD',
    expiresInSeconds: Number(query.get('X-Amz-Expires')),
  };
}

function claimOfHeader({ headers }: IncomingMessage): Claim | null {
  const found = /Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)/.exec(headers.authorization ?? '');
  if (!found) return null;
  const [, credential = '', signedHeaders = '', signature = ''] = found;
  const date = String(headers['x-amz-date']);
  const payload = String(headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD');
  return { credential, signedHeaders, signature, date, payload, expiresInSeconds: 900 };
}

function signatureOf(claim: Claim, { method, headers }: IncomingMessage, url: URL, secretAccessKey: string): string {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const names = claim.signedHeaders.split(';');
  const canonicalHeaders = names.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('');
  const canonical = [method, url.pathname, query, canonicalHeaders, claim.signedHeaders, claim.payload].join('\n');
  const [, ...scope] = claim.credential.split('/');
  const toSign = ['AWS4-HMAC-SHA256', claim.date, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
  return hmac(key, toSign).toString('hex');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
