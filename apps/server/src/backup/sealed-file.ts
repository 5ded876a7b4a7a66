import { createCipheriv, createDecipheriv, randomBytes, randomUUID, scrypt } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, open as openFile, rm } from 'node:fs/promises';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import { damaged, frameWriter, type WriteFrame } from './frames.ts';
import { BackupRefused } from './refused.ts';

const magic = 'parley-backup 1';
const chunkBytes = 64 * 1024;
const tagBytes = 16;
const lastFlag = 0x80000000;
const headerBytesMax = 1_024;
const cost = { N: 2 ** 16, r: 8, p: 1 };

/** With a passphrase the key is made from it. Without one it stands in the file: then it only detects damage. */
type Lock = { passphrase: true; salt: string } | { passphrase: false; key: string };

const derive = promisify<string, Buffer, number, typeof cost & { maxmem: number }, Buffer>(scrypt);

const keyOf = (lock: Lock, passphrase: string | null): Promise<Buffer> =>
  lock.passphrase
    ? derive(passphrase ?? '', Buffer.from(lock.salt, 'base64'), 32, { ...cost, maxmem: 256 * cost.N * cost.r })
    : Promise.resolve(Buffer.from(lock.key, 'base64'));

/**
 * Writes an archive: frames, compressed, in chunks that are each encrypted and authenticated (AES-256-GCM; the nonce
 * counts them and marks the last, so that none can be left out, exchanged or cut off). It gets its name when it is
 * whole, and never replaces another file.
 */
export async function writeSealed(
  path: string,
  passphrase: string | null,
  fill: (write: WriteFrame) => Promise<void>,
): Promise<void> {
  const lock: Lock =
    passphrase === null
      ? { passphrase: false, key: randomBytes(32).toString('base64') }
      : { passphrase: true, salt: randomBytes(16).toString('base64') };
  const header = `${magic} ${JSON.stringify(lock)}\n`;
  const key = await keyOf(lock, passphrase);
  // Of its own: another backup to the same name may be under way, and one of them is refused in the end.
  const half = `${path}.${randomUUID()}.part`;
  // Opened now: a file that opens behind what removes it would be left.
  const file = (await openFile(half, 'wx', 0o600)).createWriteStream({ flush: true });
  const frames = new PassThrough({ highWaterMark: 4 * chunkBytes });
  const written = pipeline(frames, createGzip({ level: 1 }), (chunks) => seal(chunks, key, header), file);
  written.catch(() => {}); // who writes a frame or awaits the end gets it
  try {
    await fill(frameWriter(frames, written));
    frames.end();
    await written;
    await link(half, path).catch(refuseReplacing(path));
  } finally {
    frames.destroy();
    await written.catch(() => {});
    await rm(half, { force: true });
  }
}

const refuseReplacing = (path: string) => (error: unknown) => {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw exists(path);
  throw error;
};

export const exists = (path: string): BackupRefused =>
  new BackupRefused(`${path} is there already: give the backup another name.`);

async function* seal(chunks: AsyncIterable<Buffer>, key: Buffer, header: string): AsyncGenerator<Buffer> {
  let waiting = Buffer.alloc(0);
  let count = 0;
  const sealed = (bytes: Buffer, isLast: boolean): Buffer => {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(count++, isLast)).setAAD(Buffer.from(header));
    const body = Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    const prefix = Buffer.alloc(4);
    prefix.writeUInt32BE((body.length | (isLast ? lastFlag : 0)) >>> 0);
    return Buffer.concat([prefix, body]);
  };
  yield Buffer.from(header);
  for await (const chunk of chunks) {
    waiting = Buffer.concat([waiting, chunk]);
    for (; waiting.length > chunkBytes; waiting = waiting.subarray(chunkBytes))
      yield sealed(waiting.subarray(0, chunkBytes), false);
  }
  yield sealed(waiting, true);
}

function nonceOf(count: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt8(isLast ? 1 : 0, 0);
  nonce.writeBigUInt64BE(BigInt(count), 4);
  return nonce;
}

/** The bytes of the frames in an archive, each chunk verified before any of it is handed on. */
export function openSealed(path: string, passphrase: string | null): AsyncIterable<Buffer> {
  const file = createReadStream(path, { highWaterMark: 4 * chunkBytes });
  const plain = createGunzip();
  const opened = pipeline(file, (chunks) => open(chunks, passphrase), plain);
  return untilEnd(plain, opened);
}

async function* untilEnd(plain: Readable, opened: Promise<void>): AsyncGenerator<Buffer> {
  opened.catch(() => {}); // thrown below, in its place
  try {
    yield* plain as AsyncIterable<Buffer>;
    await opened;
  } catch (error) {
    // What the first stage says is the cause; what the others say follows from it.
    throw translate(
      await opened.then(
        () => error,
        (cause: unknown) => cause,
      ),
    );
  } finally {
    plain.destroy();
  }
}

function translate(error: unknown): unknown {
  const code = String((error as NodeJS.ErrnoException).code);
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
    return new BackupRefused(`The archive cannot be read: ${(error as Error).message}.`);
  return code.startsWith('Z_') ? damaged() : error;
}

async function* open(chunks: AsyncIterable<Buffer>, passphrase: string | null): AsyncGenerator<Buffer> {
  let opened: { key: Buffer; header: Buffer } | null = null;
  let waiting = Buffer.alloc(0);
  let [count, isOver] = [0, false];
  for await (const chunk of chunks) {
    if (isOver) throw damaged();
    waiting = Buffer.concat([waiting, chunk]);
    if (opened === null) {
      const found = readHeader(waiting);
      if (found === null) continue;
      opened = { key: await keyOf(requirePassphrase(found.lock, passphrase), passphrase), header: found.header };
      waiting = waiting.subarray(found.header.length);
    }
    while (waiting.length >= 4) {
      const prefix = waiting.readUInt32BE(0);
      const length = prefix & ~lastFlag;
      if (isOver || length < tagBytes || length > chunkBytes + tagBytes) throw damaged();
      if (waiting.length < 4 + length) break;
      isOver = prefix >>> 31 === 1;
      yield unseal(opened, waiting.subarray(4, 4 + length), nonceOf(count, isOver), count === 0 && passphrase !== null);
      count += 1;
      waiting = waiting.subarray(4 + length);
    }
  }
  if (!isOver || waiting.length > 0) throw opened === null ? foreign() : damaged();
}

function readHeader(bytes: Buffer): { header: Buffer; lock: Lock } | null {
  const end = bytes.indexOf(10);
  if (end < 0 && bytes.length < headerBytesMax) return null;
  const header = bytes.subarray(0, end + 1);
  if (end < 0 || end > headerBytesMax || !header.toString().startsWith('parley-backup ')) throw foreign();
  if (!header.toString().startsWith(`${magic} `))
    throw new BackupRefused('The archive is of a newer Parley: restore it with that version or a newer one.');
  try {
    return { header, lock: JSON.parse(header.toString('utf8', magic.length)) as Lock };
  } catch {
    throw damaged();
  }
}

function requirePassphrase(lock: Lock, passphrase: string | null): Lock {
  if (lock.passphrase && passphrase === null)
    throw new BackupRefused('The archive is encrypted: set BACKUP_PASSPHRASE or give --passphrase-file.');
  return lock;
}

function unseal(
  { key, header }: { key: Buffer; header: Buffer },
  bytes: Buffer,
  nonce: Buffer,
  mayBePassphrase: boolean,
): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(header);
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(0, bytes.length - tagBytes)), decipher.final()]);
  } catch {
    throw mayBePassphrase
      ? new BackupRefused('The passphrase is not the one of this archive, or the archive is damaged.')
      : damaged();
  }
}

const foreign = (): BackupRefused => new BackupRefused('This is no archive of parley backup.');
