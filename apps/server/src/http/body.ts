import type { IncomingMessage } from 'node:http';
import { fail, ServiceError } from '@parley/contract';
import { readJson } from '../core/safe-json.ts';

/** Reads the request's JSON, or undefined when there is no body. Never holds more than `bytesMax`. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  const declared = declaredBytes(request, bytesMax);
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  if (declared === 0 && !isChunked) return undefined;
  if (!isJson(request.headers['content-type'])) fail('SVC_UNSUPPORTED_MEDIA_TYPE');
  const bytes = await collect(request, bytesMax);
  return bytes.length === 0 ? undefined : readJson(bytes);
}

/** Reads the request's text of this media type; empty when there is no body. */
export async function readText(request: IncomingMessage, mediaType: string, bytesMax: number): Promise<string> {
  declaredBytes(request, bytesMax);
  if (request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() !== mediaType)
    fail('SVC_UNSUPPORTED_MEDIA_TYPE', { message: `Send the body as ${mediaType}.` });
  return (await collect(request, bytesMax)).toString('utf8');
}

/** How long the body says it is, 0 when it does not say. Refused when that is too long already. */
export function declaredBytes({ headers }: Pick<IncomingMessage, 'headers'>, bytesMax: number): number {
  const actual = Number(headers['content-length'] ?? 0);
  return actual > bytesMax ? fail('SVC_PAYLOAD_TOO_LARGE', { limit: bytesMax, actual }) : actual;
}

const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/json\s*(;\s*charset=("?)utf-8\2\s*)?$/i.test(contentType);

/** With listeners: an iterator over the request costs as much as reading its JSON. */
function collect(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // The client went away in the middle of its body: nothing to answer, and no fault of ours.
    const onCut = (): void => reject(new ServiceError('SVC_BAD_REQUEST', { message: 'The body ended early.' }));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bytesMax) return void chunks.push(chunk);
      // Nothing more is read: what is left of it would only fill the memory.
      request.pause();
      reject(new ServiceError('SVC_PAYLOAD_TOO_LARGE', { limit: bytesMax }));
    });
    request.on('end', () => {
      // Every request closes: only one that closes before its end was cut.
      request.off('close', onCut);
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    request.on('close', onCut);
    request.on('error', onCut);
  });
}
