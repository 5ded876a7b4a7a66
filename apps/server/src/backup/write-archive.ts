import { createHash, type Hash } from 'node:crypto';
import type { AttachmentMedia } from '@parley/contract';
import type { Blobs } from '../core/ports.ts';
import { sizeKey } from '../domains/chat/media/kinds.ts';
import { type Frame, type FrameHead, type Manifest, rowsIn, type WriteFrame } from './frames.ts';
import { writeSealed } from './sealed-file.ts';

/** What is backed up. */
export interface Source {
  /** Hands on the frames of one snapshot. */
  snapshot(write: WriteFrame): Promise<void>;
  /** Null: files are left out. */
  blobs: Blobs | null;
  secrets: Extract<FrameHead, { is: 'secrets' }>;
}

interface ArchiveOptions {
  path: string;
  passphrase: string | null;
  version: string;
  createdAt: string;
  progress: (line: string) => void;
}

export interface Written {
  manifest: Manifest;
  /** Files that the database knows and the store does not have. */
  missing: readonly string[];
}

interface KnownFile {
  key: string;
  /** A file that is not there is nothing unusual while it is uploaded, or once it has expired. */
  mustExist: boolean;
}

/** One archive of everything. It is there when this resolves, and not at all when it rejects. */
export async function writeArchive(source: Source, options: ArchiveOptions): Promise<Written> {
  const { path, passphrase, version, createdAt, progress } = options;
  let written: Written | null = null;
  await writeSealed(path, passphrase, async (write) => {
    const tally = createTally();
    const known: KnownFile[] = [];
    await source.snapshot(async (head, body = Buffer.alloc(0)) => {
      tally.add({ head, body });
      known.push(...filesIn({ head, body }, tally.columnsOf));
      await write(head, body);
      if (head.is === 'rows') progress(`Database: ${tally.rowCount().toLocaleString('en')} rows`);
    });
    const { database, schema, tables } = tally.result();
    const { files, missing } = await writeFiles(source.blobs, known, write, progress);
    await write(source.secrets);
    const manifest: Manifest = { version, createdAt, database, schema, tables, files };
    await write({ is: 'manifest', manifest });
    written = { manifest, missing };
  });
  if (written === null) throw new Error('unreachable');
  return written;
}

/** Forwarded messages share their files: each is written once. */
function byKey(known: readonly KnownFile[]): Map<string, boolean> {
  const files = new Map<string, boolean>();
  for (const { key, mustExist } of known) files.set(key, mustExist || files.get(key) === true);
  return files;
}

async function writeFiles(
  blobs: Blobs | null,
  known: readonly KnownFile[],
  write: WriteFrame,
  progress: (line: string) => void,
): Promise<{ files: Manifest['files']; missing: string[] }> {
  if (blobs === null) return { files: null, missing: [] };
  const files = { count: 0, bytes: 0 };
  const missing: string[] = [];
  const all = byKey(known);
  for (const [key, mustExist] of all) {
    const found = await blobs.stat(key);
    const content = found && (await blobs.read(key));
    if (!found || !content) {
      if (mustExist) missing.push(key);
      continue;
    }
    await write({ is: 'file', key, ...found });
    for await (const bytes of content) await write({ is: 'bytes' }, bytes);
    files.count += 1;
    files.bytes += found.size;
    progress(`Files: ${files.count} of ${all.size}`);
  }
  return { files, missing };
}

/** Attachments say under which keys their bytes are, and those of their smaller sizes. */
function filesIn({ head, body }: Frame, columnsOf: (table: string) => readonly string[]): KnownFile[] {
  if (head.is !== 'rows' || head.table !== 'attachments') return [];
  const columns = columnsOf('attachments');
  const [id, key, status, media] = ['id', 'blob_key', 'status', 'media'].map((name) => columns.indexOf(name));
  return rowsIn(body).flatMap((row) => {
    const mustExist = row[status ?? -1] === 'UPLOADED' || row[status ?? -1] === 'ATTACHED';
    // The service wrote it.
    const { sizes = [] } = (JSON.parse(row[media ?? -1] ?? '{}') ?? {}) as AttachmentMedia;
    const keys = [row[key ?? -1] ?? '', ...sizes.map(({ size }) => sizeKey(row[id ?? -1] ?? '', size))];
    return keys.map((one) => ({ key: one, mustExist }));
  });
}

/** Counts what passes: the writer for the manifest, the reader to hold against it. */
export function createTally() {
  let snapshot: Extract<FrameHead, { is: 'snapshot' }> | null = null;
  const tables = new Map<string, { rows: number; hash: Hash }>();
  return {
    add({ head, body }: Frame): void {
      if (head.is === 'snapshot') {
        snapshot = head;
        for (const { name } of head.tables) tables.set(name, { rows: 0, hash: createHash('sha256') });
      }
      const table = head.is === 'rows' ? tables.get(head.table) : undefined;
      if (head.is !== 'rows' || table === undefined) return;
      table.rows += head.count;
      table.hash.update(body);
    },
    columnsOf: (table: string): readonly string[] => snapshot?.tables.find(({ name }) => name === table)?.columns ?? [],
    rowCount: (): number => [...tables.values()].reduce((sum, { rows }) => sum + rows, 0),
    result(): Pick<Manifest, 'database' | 'schema' | 'tables'> {
      if (snapshot === null) throw new Error('There was no snapshot.');
      const { database, schema } = snapshot;
      const counted = [...tables].map(
        ([name, { rows, hash }]) => [name, { rows, checksum: hash.digest('hex') }] as const,
      );
      return { database, schema, tables: Object.fromEntries(counted) };
    },
  };
}
