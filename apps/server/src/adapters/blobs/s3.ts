import { createHash, type Hash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AwsClient } from 'aws4fetch';
import { create as contentDisposition } from 'content-disposition';
import { BlobSizeMismatch, type Blobs, BlobsUnavailable, type SignedRequest } from '../../core/ports.ts';
import { deferErrors, exactly } from './exact-length.ts';
import { assertBlobKey } from './keys.ts';

export interface S3Options {
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

const answerTimeoutMs = 5_000;
const stallTimeoutMs = 15_000;
/** A whole object; as large as attachments are. */
const readTimeoutMs = 60_000;

interface CallOptions {
  headers?: Record<string, string>;
  timeoutMs?: number;
  /** Answers that are no fault, beside "there is none". */
  takes?: readonly number[];
}

/**
 * A store closes connections that were idle, and a request may be on its way there just then: it is sent once more. All
 * that is asked this way may be asked twice.
 */
async function fetchOnOpenConnection(request: Request, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(request.clone(), { signal });
  } catch (error) {
    if (!isHangUp(error)) throw error;
    return await fetch(request, { signal });
  }
}

const hangUps: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

const isHangUp = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause && hangUps.includes(error.cause.code);

/** Blobs in S3 or a store that speaks like it. Clients send and fetch bytes there, at URLs that we sign. */
export function createS3Blobs({ endpoint, bucket, ...credentials }: S3Options): Blobs {
  const signer = new AwsClient({ ...credentials, service: 's3', retries: 0 });
  const base = `${endpoint.replace(/\/+$/, '')}/${bucket}`;

  function urlOf(key: string): URL {
    assertBlobKey(key);
    return new URL(`${base}/${key}`);
  }

  async function presign(url: URL, method: 'GET' | 'PUT', headers: Record<string, string>): Promise<SignedRequest> {
    const signed = await signer.sign(url.href, { method, headers, aws: { signQuery: true, allHeaders: true } });
    return { url: signed.url, method, headers };
  }

  async function call(url: string, method: string, options: CallOptions = {}): Promise<Response> {
    const { headers = {}, timeoutMs = answerTimeoutMs, takes = [] } = options;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetchOnOpenConnection(await signer.sign(url, { method, headers }), signal);
      if (response.ok || response.status === 404 || takes.includes(response.status)) return response;
      await response.body?.cancel();
      throw new Error(`${method} answered ${response.status}`);
    } catch (error) {
      throw new BlobsUnavailable('the object store does not answer', { cause: error });
    }
  }

  async function read(key: string): Promise<Readable | null> {
    const response = await call(urlOf(key).href, 'GET', { timeoutMs: readTimeoutMs });
    if (response.status === 404 || !response.body) {
      await response.body?.cancel();
      return null;
    }
    return Readable.from(bytesOf(response.body));
  }

  /** Copies, with a hash if the store can: one that knows nothing of hashes may refuse to be asked for one. */
  async function putCopy(url: string, source: string): Promise<Response> {
    const headers = { 'x-amz-copy-source': source };
    const hashed = { ...headers, 'x-amz-checksum-algorithm': 'SHA256' };
    const response = await call(url, 'PUT', { headers: hashed, takes: [400, 501] });
    if (response.ok || response.status === 404) return response;
    await response.body?.cancel();
    return call(url, 'PUT', { headers });
  }

  return {
    async presignUpload(key, { contentType, size, expiresInSeconds }) {
      const url = urlOf(key);
      url.searchParams.set('X-Amz-Expires', String(expiresInSeconds));
      // Both are signed: another size or type is refused by the store itself.
      return await presign(url, 'PUT', { 'content-type': contentType, 'content-length': String(size) });
    },

    async presignDownload(key, { filename, contentType, isInline, expiresInSeconds }) {
      const url = urlOf(key);
      url.searchParams.set('X-Amz-Expires', String(expiresInSeconds));
      url.searchParams.set('response-content-type', contentType);
      const disposition = contentDisposition(filename, { type: isInline ? 'inline' : 'attachment' });
      url.searchParams.set('response-content-disposition', disposition);
      return await presign(url, 'GET', {});
    },

    async write(key, content, size) {
      const url = urlOf(key);
      const spool = join(tmpdir(), `parley-blob-${randomUUID()}`);
      deferErrors(content);
      try {
        const hash = await writeSpool(spool, content, size);
        const headers = {
          'content-length': String(size),
          'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
          'x-amz-checksum-sha256': hash,
        };
        const signed = await signer.sign(url.href, { method: 'PUT', headers, aws: { allHeaders: true } });
        await put(url, Object.fromEntries(signed.headers), spool);
      } catch (error) {
        content.destroy();
        if (error instanceof BlobSizeMismatch) throw error;
        throw new BlobsUnavailable('the object store did not take the bytes', { cause: error });
      } finally {
        await rm(spool, { force: true });
      }
    },

    read,

    async stat(key) {
      const response = await call(urlOf(key).href, 'HEAD', { headers: { 'x-amz-checksum-mode': 'ENABLED' } });
      if (response.status === 404) return null;
      const size = Number(response.headers.get('content-length'));
      const kept = wholeHash.exec(response.headers.get('x-amz-checksum-sha256') ?? '')?.[0];
      if (kept) return { size, checksum: `sha256:${Buffer.from(kept, 'base64').toString('hex')}` };
      const content = await read(key);
      return content && { size, checksum: `sha256:${await hashOf(content)}` };
    },

    async copy(key, to) {
      assertBlobKey(key);
      const response = await putCopy(urlOf(to).href, `/${bucket}/${key}`);
      // The status comes before the copy is made: what became of it is in the body.
      const isCopied = !(await response.text()).includes('<Error>');
      if (response.ok && !isCopied) throw new BlobsUnavailable('the object store did not copy');
      return response.ok;
    },

    async delete(key) {
      await call(urlOf(key).href, 'DELETE');
    },

    async ping() {
      const started = performance.now();
      const { status } = await call(base, 'HEAD');
      if (status === 404) throw new BlobsUnavailable(`there is no bucket ${bucket}`);
      return performance.now() - started;
    },

    close: async () => {},
  };
}

/** Base64 of 32 bytes; one made of the hashes of parts has their number behind it. */
const wholeHash = /^[\w+/]{43}=$/;

async function* bytesOf(body: AsyncIterable<Uint8Array>) {
  try {
    yield* body;
  } catch (error) {
    throw new BlobsUnavailable('the object store broke off', { cause: error });
  }
}

async function hashOf(content: Readable): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(content, hash);
  return hash.digest('hex');
}

/** Kept here first: what is sent is then whole and of the right size, and its hash is known. */
async function writeSpool(path: string, content: Readable, size: number): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
  const hashing = (chunks: AsyncIterable<Buffer>) => hashed(chunks, hash);
  await pipeline(content, exactly(size), hashing, file.createWriteStream());
  return hash.digest('base64');
}

async function* hashed(chunks: AsyncIterable<Buffer>, hash: Hash) {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

// Not fetch: it sends a stream in chunks of unknown length, which S3 does not take.
async function put(url: URL, headers: Record<string, string>, path: string): Promise<void> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(url, { method: 'PUT', headers, timeout: stallTimeoutMs });
  request.on('timeout', () => request.destroy(new Error('stalled')));
  const answered = new Promise<number>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
  });
  const [status] = await Promise.all([answered, pipeline(createReadStream(path), request)]);
  if (status !== 200) throw new Error(`PUT answered ${status}`);
}
