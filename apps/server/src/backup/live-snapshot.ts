import { randomUUID } from 'node:crypto';
import { chmodSync, createReadStream, readdirSync, rmSync } from 'node:fs';
import { open as openFile, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Db } from '../core/db.ts';
import type { Log } from '../core/log.ts';
import { frameWriter, readFrames, type WriteFrame } from './frames.ts';
import { BackupRefused } from './refused.ts';
import { takeSnapshot } from './snapshot-store.ts';

// The embedded database belongs to the process that runs. Who may read its folder may ask that process for a snapshot,
// at a socket in the folder: no port, no route, no credential but the file system's.

const spoolPrefix = 'backup.spool';

/** Systems allow 104 to 108 bytes for the path of a socket. */
const pathBytesMax = 103;

function socketPath(folder: string): string | null {
  const path = join(folder, 'backup.sock');
  const shorter = [path, relative(process.cwd(), path)].sort((a, b) => a.length - b.length)[0] ?? path;
  return Buffer.byteLength(shorter) <= pathBytesMax ? shorter : null;
}

/** Answers each connection with a snapshot. Gives how to stop. */
export async function offerSnapshots(folder: string, db: Db, log: Log): Promise<() => Promise<void>> {
  const path = socketPath(folder);
  if (path === null) {
    log.warn(
      {},
      'the path of the data folder is too long for a socket: parley backup works only while this is stopped',
    );
    return async () => {};
  }
  const [open, underWay] = [new Set<Socket>(), new Set<Promise<void>>()];
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
    const sending = sendSnapshot(folder, db, socket).catch((error: unknown) => {
      log.error({ error }, 'a snapshot for parley backup failed');
      socket.destroy();
    });
    underWay.add(sending);
    void sending.then(() => underWay.delete(sending));
  });
  // Of a process that was killed: the folder's lock is ours.
  rmSync(path, { force: true });
  for (const name of readdirSync(folder)) if (name.startsWith(spoolPrefix)) rmSync(join(folder, name), { force: true });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  chmodSync(path, 0o600);
  return async () => {
    for (const socket of open) socket.destroy();
    await Promise.all([...underWay, new Promise<void>((resolve) => server.close(() => resolve()))]);
  };
}

/** To a file first: requests wait for the database meanwhile, and must not wait for a slow reader too. */
async function sendSnapshot(folder: string, db: Db, socket: Socket): Promise<void> {
  // Of its own: another backup may be under way.
  const spool = join(folder, `${spoolPrefix}${randomUUID()}`);
  const file = await openFile(spool, 'wx', 0o600);
  const frames = new PassThrough();
  const spooled = pipeline(frames, file.createWriteStream());
  spooled.catch(() => {}); // who writes a frame gets it
  try {
    await takeSnapshot(db, frameWriter(frames, spooled));
    frames.end();
    await spooled;
    await pipeline(createReadStream(spool), socket);
  } finally {
    frames.destroy();
    await spooled.catch(() => {});
    await rm(spool, { force: true });
  }
}

/** The snapshot of the process that runs on this folder. */
export async function receiveSnapshot(folder: string, write: WriteFrame): Promise<void> {
  const path = socketPath(folder);
  const refusal = new BackupRefused(
    `The process that uses ${folder} gives no snapshot: back up as its user, or stop it for the backup.`,
  );
  if (path === null) throw refusal;
  const socket = connect(path);
  let isWhole = false;
  try {
    for await (const { head, body } of readFrames(socket)) {
      await write(head, body);
      isWhole = head.is === 'counters';
    }
  } catch (error) {
    throw ['ENOENT', 'ECONNREFUSED', 'EACCES'].includes(String((error as NodeJS.ErrnoException).code))
      ? refusal
      : error;
  }
  if (!isWhole) throw new BackupRefused('The running service broke off: see its log. There is no backup.');
}
