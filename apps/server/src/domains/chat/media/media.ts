import { Readable } from 'node:stream';
import type { AttachmentMedia } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import { type Blobs, BlobsUnavailable } from '../../../core/ports.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import { lockEntry } from '../conversations/conversation-store.ts';
import type { Refresh } from '../messages/refresh.ts';
import { createTriggeredWork } from '../upkeep/triggered-work.ts';
import { mediaKindOf, pictureSizes, sizeKey } from './kinds.ts';
import { type ClaimedFile, claimMedia, endMedia, findRead, isMediaDue, postponeMedia } from './media-store.ts';
import type { StoredSize } from './messages.ts';
import type { MediaProcessor } from './processor.ts';

interface MediaDeps {
  db: Db;
  blobs: Blobs;
  clock: Clock;
  log: Log;
  unitOfWork: UnitOfWork;
  refresh: Refresh;
  processor: MediaProcessor;
}

/** Longer than a file may take: nobody else takes it meanwhile, and nobody deletes it. */
const claimMs = 90_000;
const storeAwayMs = 30_000;
/** A file that ended the process so often is kept as it is. */
const triesMax = 2;
const batchMax = 2;

/** Looks at pictures and sounds after their upload, and tells of it by a change of their message (ADR 0215). */
export function createMedia({ db, blobs, clock, log, unitOfWork, refresh, processor }: MediaDeps) {
  let isSaid = false;

  async function readFile(file: ClaimedFile): Promise<void> {
    const kind = mediaKindOf(file);
    const known = file.isShared ? await takeKnown(file) : null;
    if (known) return settle(file, known, []);
    const content = kind && (await blobs.read(file.blobKey));
    if (!kind) return settle(file, null, []);
    if (!content) throw new BlobsUnavailable('the store does not have a file that was completed');
    const outcome = await processor.read({ kind, mimeType: file.mimeType }, content);
    if (isStopped()) return;
    if (outcome.is === 'read') return settle(file, outcome.media, outcome.sizes);
    if (outcome.is === 'unavailable' && !isSaid) {
      isSaid = true;
      log.warn({ why: outcome.why }, 'pictures are not processed: sharp cannot be loaded on this machine');
    }
    // Its claim runs out, and it is tried once more.
    if (outcome.is === 'failed' && file.tries < triesMax) return;
    log.info({ attachment: file.id, why: outcome.why }, 'a file was not read; it is kept as it is');
    await settle(file, null, []);
  }

  /** Of what was passed on, with sizes of its own; null where it has to be read. Passing on costs no opening (ATT-15). */
  async function takeKnown(file: ClaimedFile): Promise<AttachmentMedia | null> {
    const read = await findRead(db, file);
    if (!read) return null;
    for (const { size } of read.media.sizes ?? [])
      if (!(await blobs.copy(sizeKey(read.id, size), sizeKey(file.id, size)))) return null;
    return read.media;
  }

  /** The wave of its uploader where we have none of our own. */
  function withGiven(file: ClaimedFile, media: AttachmentMedia | null): AttachmentMedia | null {
    const { waveform } = file;
    if (waveform === null || mediaKindOf(file) !== 'audio') return media;
    return { kind: 'audio', durationMs: media?.durationMs ?? null, waveform: media?.waveform ?? waveform };
  }

  async function settle(file: ClaimedFile, media: AttachmentMedia | null, sizes: readonly StoredSize[]): Promise<void> {
    for (const { size, content } of sizes)
      await blobs.write(sizeKey(file.id, size), Readable.from([content]), content.length);
    const known = withGiven(file, media);
    const isKept = await unitOfWork(file, async (tx, emit) => {
      if (!(await lockEntry(tx, file, file.conversationUuid, null))) return false;
      const ended = await endMedia(tx, file.id, known);
      if (ended?.messageId && known) await refresh(tx, emit, file, ended.messageId);
      return ended !== undefined;
    });
    if (!isKept) for (const size of pictureSizes) await blobs.delete(sizeKey(file.id, size));
  }

  async function attempt(file: ClaimedFile): Promise<void> {
    try {
      await readFile(file);
    } catch (error) {
      if (error instanceof BlobsUnavailable) await postponeMedia(db, file.id, iso(clock.now() + storeAwayMs));
      else throw error;
    }
  }

  const { run, isDue, trigger, isStopped, stop } = createTriggeredWork(
    { log, clock },
    {
      what: 'reading files',
      claimMs,
      batchMax,
      claim: (range) => claimMedia(db, range),
      isAnyDue: isMediaDue,
      async attempt(due) {
        for (const file of due) await attempt(file);
      },
    },
  );

  return {
    run,
    isDue,
    trigger,
    async stop(): Promise<void> {
      processor.stop();
      await stop();
    },
  };
}
