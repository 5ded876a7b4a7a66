import type { Api } from '@parley/server';
import fc from 'fast-check';
import type { TestService } from '../kit/service.ts';
import { type FuzzOutcome, sendAll, type Try } from './request.ts';
import { newAttachment } from './stage.ts';
import { nasty } from './values.ts';

interface FileFuzz {
  service: TestService;
  api: Api;
  seed: number;
  perRoute: number;
  outcome: FuzzOutcome;
}

/** The two routes outside the table that take no JSON: bytes in and out at signed URLs. */
export async function fuzzFiles({ service, api, seed, perRoute, outcome }: FileFuzz): Promise<void> {
  const ids = await newAttachment(api, { isComplete: true });
  const { url } = await api.call('getAttachmentDownload', { attachmentId: ids['attachmentId'] ?? '' });
  const downloads = fc.sample(tryOf('GET', url, fc.constant(undefined)), { seed, numRuns: perRoute });
  await sendAll(service, 'downloadFile by URL', [...downloads, plainTry('GET', url, undefined)], outcome);

  const content = filled(64);
  const body = { filename: 'a.txt', mimeType: 'text/plain', size: content.length, uploaderId: 'ada' };
  const { uploadUrl } = await api.call('requestAttachment', { room: ids['room'] ?? '', body });
  const uploads = fc.sample(tryOf('PUT', uploadUrl, bytes), { seed, numRuns: perRoute });
  await sendAll(service, 'uploadFile by URL', [...uploads, plainTry('PUT', uploadUrl, content)], outcome);
}

type Bytes = Uint8Array<ArrayBuffer>;

function filled(length: number): Bytes {
  return new Uint8Array(length).fill(120);
}

/** Of the size that was announced, or not. */
const bytes = fc.oneof(
  fc.constant(filled(64)),
  fc.uint8Array({ maxLength: 200 }).map((values) => new Uint8Array(values)),
  fc.constant(filled(300_000)),
);

function plainTry(method: string, url: string, body: Bytes | undefined): Try {
  const { pathname, search } = new URL(url);
  return { method, path: pathname, query: search.slice(1), body, headers: { 'content-type': 'text/plain' } };
}

/** The signed URL with now and then a part of it changed. */
function tryOf(method: string, url: string, body: fc.Arbitrary<Bytes | undefined>): fc.Arbitrary<Try> {
  const { pathname, searchParams } = new URL(url);
  const folder = pathname.slice(0, pathname.lastIndexOf('/') + 1);
  const mostly = (right: string): fc.Arbitrary<string> =>
    fc.oneof({ arbitrary: fc.constant(right), weight: 4 }, { arbitrary: nasty, weight: 1 });
  return fc
    .record({
      id: mostly(pathname.slice(folder.length)),
      exp: mostly(searchParams.get('exp') ?? ''),
      sig: mostly(searchParams.get('sig') ?? ''),
      type: fc.constantFrom('text/plain', 'text/plain; charset=utf-8', 'application/json', 'x', ''),
      body,
    })
    .map(({ id, exp, sig, type, body: sent }) => ({
      method,
      path: `${folder}${encodeURIComponent(id.toWellFormed()) || '%20'}`,
      query: new URLSearchParams({ exp: exp.toWellFormed(), sig: sig.toWellFormed() }).toString(),
      body: sent,
      headers: { 'content-type': type },
    }));
}
