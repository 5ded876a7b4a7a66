import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readdir, realpath, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Clock, systemClock } from '../../core/clock.ts';
import { type Blobs, BlobsFull, BlobsUnavailable } from '../../core/ports.ts';
import { deferErrors, exactly } from './exact-length.ts';
import { assertBlobKey } from './keys.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
const freeBytesMin = 1024 * 1024;
const staleMs = 24 * 3_600_000;

/** Blobs as files under one folder. Nothing a caller sent is ever part of a path. */
export function createFolderBlobs(folder: string, clock: Clock = systemClock): Blobs {
  const root = resolve(folder);
  // No key has a dot, so nothing unfinished is ever found under a key.
  const parts = join(root, '.parts');
  let isTidied = false;

  function pathOf(key: string): string {
    assertBlobKey(key);
    const path = join(root, key);
    if (!path.startsWith(root + sep)) throw new Error(`not a blob key: ${key}`);
    return path;
  }

  async function makeFolders(path: string): Promise<void> {
    await mkdir(parts, { recursive: true, mode: 0o700 });
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await assertInside(root, dirname(path));
    if (isTidied) return;
    isTidied = true;
    await removeStale(parts, clock.now() - staleMs);
  }

  async function openFile(key: string): Promise<FileHandle | null> {
    const path = pathOf(key);
    const file = await open(path, O_RDONLY | O_NOFOLLOW).catch(ifMissing);
    if (file === null) return null;
    try {
      await assertInside(root, dirname(path));
      if ((await file.stat()).isFile()) return file;
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return null;
  }

  async function write(key: string, content: Readable, size: number): Promise<void> {
    const path = pathOf(key);
    const part = join(parts, randomUUID());
    deferErrors(content);
    try {
      await makeFolders(path);
      const file = await open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      await pipeline(content, exactly(size), file.createWriteStream({ flush: true }));
      await rename(part, path);
    } catch (error) {
      content.destroy();
      await rm(part, { force: true }).catch(() => {}); // where the folder is missing there is no part
      throw translate(error);
    }
  }

  return {
    presignUpload: async () => null,
    presignDownload: async () => null,

    write,

    read: async (key) => (await openFile(key))?.createReadStream() ?? null,

    async stat(key) {
      const file = await openFile(key);
      if (file === null) return null;
      const { size } = await file.stat();
      const hash = createHash('sha256');
      await pipeline(file.createReadStream(), hash);
      return { size, checksum: `sha256:${hash.digest('hex')}` };
    },

    async copy(key, to) {
      const file = await openFile(key);
      if (file === null) return false;
      const { size } = await file.stat();
      await write(to, file.createReadStream(), size);
      return true;
    },

    delete: (key) => rm(pathOf(key), { force: true }),

    async ping() {
      const started = performance.now();
      try {
        await mkdir(parts, { recursive: true, mode: 0o700 });
        await access(parts, constants.W_OK);
      } catch (error) {
        throw new BlobsUnavailable('the storage folder cannot be written', { cause: error });
      }
      const { bavail, bsize } = await statfs(root);
      if (bavail * bsize < freeBytesMin) throw new BlobsFull('the storage folder is full');
      return performance.now() - started;
    },

    close: async () => {},
  };
}

/** A link to a folder elsewhere must not lead us out. */
async function assertInside(root: string, folder: string): Promise<void> {
  const [realRoot, real] = await Promise.all([realpath(root), realpath(folder)]);
  if (real !== realRoot && !real.startsWith(realRoot + sep))
    throw new Error(`${folder} leads out of the storage folder`);
}

/** What a killed process left unfinished; younger parts may belong to another process. */
async function removeStale(parts: string, before: number): Promise<void> {
  for (const name of await readdir(parts)) {
    const path = join(parts, name);
    const found = await stat(path).catch(() => null);
    if (found && found.mtimeMs < before) await rm(path, { force: true });
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

// A link where a file should be is nothing of ours.
function ifMissing(error: unknown): null {
  if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String(codeOf(error)))) return null;
  throw translate(error);
}

const storageFaults = new Set<unknown>([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EACCES',
  'EPERM',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOTDIR',
  'EEXIST',
]);

const translate = (error: unknown): unknown =>
  storageFaults.has(codeOf(error))
    ? new BlobsUnavailable('the storage folder cannot be used', { cause: error })
    : error;
