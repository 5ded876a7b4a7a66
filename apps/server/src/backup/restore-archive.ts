import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { migrateAs, migrateRestored, serverMigrations } from '../adapters/db/shared/migrate.ts';
import type { Db } from '../core/db.ts';
import type { Blobs } from '../core/ports.ts';
import { damaged, type Frame, type FrameHead, type Manifest, readFrames } from './frames.ts';
import { BackupRefused } from './refused.ts';
import { openSealed } from './sealed-file.ts';
import { openLoader } from './snapshot-store.ts';
import { createTally } from './write-archive.ts';

export interface Archive {
  path: string;
  passphrase: string | null;
}

/** What an archive holds, besides rows and files. */
export interface Contents {
  manifest: Manifest;
  secrets: Extract<FrameHead, { is: 'secrets' }>;
}

type Progress = (line: string) => void;

const framesOf = ({ path, passphrase }: Archive): AsyncGenerator<Frame> => readFrames(openSealed(path, passphrase));

/** Reads all of it, and writes nothing: throws unless every byte is what was written. */
export async function verifyArchive(archive: Archive, progress: Progress): Promise<Contents> {
  if (!existsSync(archive.path)) throw new BackupRefused(`There is no file ${archive.path}.`);
  const tally = createTally();
  const files = createFileCheck();
  let secrets: Contents['secrets'] | null = null;
  let manifest: Manifest | null = null;
  for await (const frame of framesOf(archive)) {
    if (manifest !== null) throw damaged();
    tally.add(frame);
    files.add(frame);
    if (frame.head.is === 'secrets') secrets = frame.head;
    if (frame.head.is === 'manifest') manifest = frame.head.manifest;
    progress('Reading the archive');
  }
  files.end();
  if (manifest === null || secrets === null) throw damaged();
  const isWhole =
    JSON.stringify(tally.result().tables) === JSON.stringify(manifest.tables) &&
    (manifest.files?.count ?? 0) === files.count();
  if (!isWhole) throw damaged();
  return { manifest, secrets };
}

/** Holds the bytes of each file against what its own frame says of them. */
function createFileCheck() {
  let count = 0;
  let open: { size: number; checksum: string; seen: number; hash: ReturnType<typeof createHash> } | null = null;
  function end(): void {
    if (open && (open.seen !== open.size || `sha256:${open.hash.digest('hex')}` !== open.checksum)) throw damaged();
    open = null;
  }
  return {
    end,
    count: () => count,
    add({ head, body }: Frame): void {
      if (head.is === 'bytes') {
        if (open === null) throw damaged();
        open.seen += body.length;
        open.hash.update(body);
        return;
      }
      end();
      if (head.is !== 'file') return;
      count += 1;
      open = { size: head.size, checksum: head.checksum, seen: 0, hash: createHash('sha256') };
    },
  };
}

/** Fills an empty database and its store from an archive that was verified, and brings the schema to ours. */
export async function restoreArchive(
  archive: Archive,
  manifest: Manifest,
  target: { db: Db; blobs: Blobs },
  progress: Progress,
): Promise<void> {
  await loadArchive(archive, manifest, target, progress);
  await migrateRestored(target.db, serverMigrations);
}

/** The same with the schema of the archive. The rows are one transaction, which ends when the files are there too. */
export async function loadArchive(
  archive: Archive,
  { schema, files }: Manifest,
  { db, blobs }: { db: Db; blobs: Blobs },
  progress: Progress,
): Promise<void> {
  await migrateAs(db, schema, serverMigrations);
  const frames = framesOf(archive);
  const first = await frames.next();
  if (first.done || first.value.head.is !== 'snapshot') throw damaged();
  const { tables } = first.value.head;
  await db.transaction(async (tx) => {
    const loader = await openLoader(tx, tables);
    let [rows, filesDone] = [0, 0];
    for (let next = await frames.next(); !next.done; next = await frames.next()) {
      const { head, body } = next.value;
      if (head.is === 'rows') {
        await loader.rows(head.table, body);
        rows += head.count;
        progress(`Database: ${rows.toLocaleString('en')} rows`);
      } else if (head.is === 'counters') await loader.counters(head.values);
      else if (head.is === 'file') {
        await restoreFile(blobs, head, frames);
        progress(`Files: ${++filesDone} of ${files?.count ?? 0}`);
      }
    }
  });
}

/** A store that already has it, the same bucket for example, is left alone. */
async function restoreFile(
  blobs: Blobs,
  { key, size, checksum }: Extract<FrameHead, { is: 'file' }>,
  frames: AsyncGenerator<Frame>,
): Promise<void> {
  const isThere = (await blobs.stat(key))?.checksum === checksum;
  async function* bytes(): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      const next = await frames.next();
      if (next.done || next.value.head.is !== 'bytes') throw damaged();
      left -= next.value.body.length;
      yield next.value.body;
    }
  }
  if (isThere) for await (const _ of bytes());
  else await blobs.write(key, Readable.from(bytes()), size);
}
