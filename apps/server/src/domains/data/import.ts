import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ImportedConversation } from '@parley/contract';
import type { Blobs } from '../../core/ports.ts';
import type { Chat } from '../chat/index.ts';
import { readWhole, withFile, writeWhole } from './folder.ts';
import type { StoredJob } from './job-store.ts';
import { type Hold, PermanentJobFailure, type Runner } from './worker.ts';

interface ImportDeps {
  blobs: Blobs;
  importer: Chat['importer'];
}

const lineBytesMax = 256 * 1024;
/** Lines that are in memory at a time. */
const batchMax = 1_000;
const newline = 0x0a;

/**
 * The file is read three times, from a disk: first every line is checked, so that a file with a mistake writes nothing; then
 * it is written; then its conversations are opened. After a kill it begins anew and adds only what is missing.
 */
export function createImport({ blobs, importer }: ImportDeps): Runner {
  async function fetchFile({ blobKey }: StoredJob, file: FileHandle): Promise<void> {
    const content = blobKey === null ? null : await blobs.read(blobKey);
    if (content === null) throw new PermanentJobFailure('The file is not there any more.');
    await pipeline(content, writeWhole(file));
  }

  type Read = ReturnType<typeof importer.readLine>;

  async function inBatches(file: FileHandle, work: (batch: Read[]) => Promise<void>): Promise<void> {
    let batch: Read[] = [];
    for await (const { line, bytes } of linesOf(file)) {
      batch.push(importer.readLine(bytes, line));
      if (batch.length < batchMax) continue;
      await work(batch);
      batch = [];
    }
    await work(batch);
  }

  async function run(job: StoredJob, hold: Hold, file: FileHandle): Promise<number> {
    let progress = 0;
    await fetchFile(job, file);
    await inBatches(file, () => hold.keep(0));
    await inBatches(file, async (batch) => {
      await importer.add(job, batch);
      progress += batch.length;
      await hold.keep(progress);
    });
    await inBatches(file, async (batch) => {
      const conversations = batch.map(({ record }) => record).filter(isConversation);
      if (conversations.length > 0) await importer.open(job, conversations);
      await hold.keep(progress);
    });
    return progress;
  }

  return async (job, hold) => {
    try {
      return { progress: await withFile((file) => run(job, hold, file)) };
    } catch (error) {
      // What a line says wrongly, no repetition makes right.
      if (error instanceof Error && error.name === 'LineProblem') throw new PermanentJobFailure(error.message);
      throw error;
    }
  };
}

const isConversation = (record: { kind: string }): record is ImportedConversation => record.kind === 'conversation';

async function* linesOf(file: FileHandle): AsyncGenerator<{ line: number; bytes: Buffer }> {
  let line = 0;
  for await (const bytes of splitLines(readWhole(file))) {
    line += 1;
    if (bytes.length > lineBytesMax)
      throw new PermanentJobFailure(`Line ${line}: it has more than ${lineBytesMax} bytes.`);
    if (bytes.length > 0) yield { line, bytes };
  }
}

/** Splits by newlines; of a line that is longer than it may be, only so much that this is seen. */
async function* splitLines(content: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      yield withoutReturn(Buffer.concat([...parts, chunk.subarray(from, at)]));
      [parts, size, from] = [[], 0, at + 1];
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > lineBytesMax) yield Buffer.concat(parts);
  }
  if (size > 0) yield withoutReturn(Buffer.concat(parts));
}

const withoutReturn = (line: Buffer): Buffer => (line.at(-1) === 0x0d ? line.subarray(0, -1) : line);
