import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { DoneMigration } from '../adapters/db/shared/migrate.ts';
import { BackupRefused } from './refused.ts';

/** What stands at the end of every archive, and what it is held against. */
export interface Manifest {
  /** Of the Parley that wrote it. */
  version: string;
  createdAt: string;
  database: 'postgres' | 'embedded';
  schema: readonly DoneMigration[];
  /** By name: how many rows, and SHA-256 of their bytes. */
  tables: Readonly<Record<string, { rows: number; checksum: string }>>;
  /** Null when files were left out. */
  files: { count: number; bytes: number } | null;
}

/** What a frame is about. An archive is: snapshot, rows…, counters, (file, bytes…)…, secrets, manifest. */
export type FrameHead =
  | { is: 'snapshot'; database: Manifest['database']; schema: readonly DoneMigration[]; tables: readonly TableShape[] }
  /** Its body: rows as JSON arrays of text, with commas between them. */
  | { is: 'rows'; table: string; count: number }
  | { is: 'counters'; values: Readonly<Record<string, { last: string; isCalled: boolean }>> }
  | { is: 'file'; key: string; size: number; checksum: string }
  | { is: 'bytes' }
  | { is: 'secrets'; values: Readonly<Record<string, string>>; devEnv: string | null }
  | { is: 'manifest'; manifest: Manifest };

export interface TableShape {
  name: string;
  columns: readonly string[];
}

export interface Frame {
  head: FrameHead;
  body: Buffer;
}

export type WriteFrame = (head: FrameHead, body?: Buffer) => Promise<void>;

/** The rows in the body of a frame. */
export const rowsIn = (body: Buffer): (string | null)[][] => JSON.parse(`[${body}]`);

const prefixBytes = 8;
/** More than any frame has: a length beyond it was never written by us. */
const frameBytesMax = 1 << 30;

/** Lengths of head and body, then both. */
function encode(head: FrameHead, body: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(text.length, 0);
  prefix.writeUInt32BE(body.length, 4);
  return Buffer.concat([prefix, text, body]);
}

/** Frames into a stream, as fast as it takes them; `done` rejects when nobody takes them any more. */
export function frameWriter(stream: Writable, done: Promise<unknown>): WriteFrame {
  return async (head, body = Buffer.alloc(0)) => {
    if (stream.destroyed) await done;
    if (!stream.write(encode(head, body))) await Promise.race([once(stream, 'drain'), done]);
  };
}

/** The frames of a stream. One that ends inside a frame throws. */
export async function* readFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let parts: Buffer[] = [];
  let have = 0;
  let need = prefixBytes;
  for await (const chunk of chunks) {
    parts.push(chunk);
    have += chunk.length;
    while (have >= need) {
      const bytes = Buffer.concat(parts);
      const [headBytes, bodyBytes] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
      need = prefixBytes + headBytes + bodyBytes;
      if (need > frameBytesMax) throw damaged();
      parts = [bytes];
      if (have < need) break;
      const bodyAt = prefixBytes + headBytes;
      yield { head: readHead(bytes.toString('utf8', prefixBytes, bodyAt)), body: bytes.subarray(bodyAt, need) };
      parts = [bytes.subarray(need)];
      have -= need;
      need = prefixBytes;
    }
  }
  if (have > 0) throw damaged();
}

function readHead(text: string): FrameHead {
  try {
    // Written by `encode`, and authenticated with the bytes around it.
    return JSON.parse(text) as FrameHead;
  } catch {
    throw damaged();
  }
}

export const damaged = (): BackupRefused =>
  new BackupRefused('The archive is damaged or was cut off: nothing was restored. Take another copy of it.');
