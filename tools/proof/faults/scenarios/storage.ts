import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@parley/server';
import {
  backWithin,
  fact,
  keptWorking,
  noExit,
  nothingLost,
  onlyStatuses,
  quick,
  refused,
  socketsStay,
  staysHealthy,
} from '../invariants.ts';
import { always, type Scenario, type Scenarios } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { mountSmallDisk, type SmallDisk } from '../small-disk.ts';

const bytes = 300_000;
/** Every process looks at least this often how much room there is. */
const noticedMs = 2_000;
const steady: Scenario['invariants'] = {
  ...always,
  'no process ends': noExit,
  'open sockets stay': socketsStay,
  '/healthz says 200': staysHealthy,
  'nothing but 503 goes wrong': onlyStatuses(503),
};

const statusOf = (error: unknown): number => (error instanceof ApiError ? error.status : 0);

/** One upload from its request to its completion, at some process: how its bytes and its completion were answered. */
async function upload(scene: Scene, place: number): Promise<{ id: string; put: number; completed: number }> {
  try {
    return await uploadBytes(scene, place);
  } catch (error) {
    // Refused before there was anywhere to send the bytes.
    return { id: '', put: statusOf(error), completed: 0 };
  }
}

async function uploadBytes({ fleet }: Scene, place: number) {
  const api = fleet.api(place);
  const body = { filename: 'a.bin', mimeType: 'application/octet-stream', size: bytes, uploaderId: 'alice' };
  const { attachment, uploadUrl, headers } = await api.call('requestAttachment', { room: fleet.room, body });
  // Signed for PUBLIC_URL, which no balancer serves here.
  const { pathname, search } = new URL(uploadUrl);
  const put = await fetch(`${fleet.url(place)}${pathname}${search}`, {
    method: 'PUT',
    headers,
    body: Buffer.alloc(bytes),
  });
  const completed = await api.call('completeAttachment', { attachmentId: attachment.id }).then(() => 200, statusOf);
  return { id: attachment.id, put: put.status, completed };
}

async function download({ fleet }: Scene, attachmentId: string, place: number): Promise<number> {
  const api = fleet.api(place);
  try {
    const { url } = await api.call('getAttachmentDownload', { attachmentId });
    const { pathname, search } = new URL(url);
    return (await fetch(`${fleet.url(place)}${pathname}${search}`)).status;
  } catch (error) {
    return statusOf(error);
  }
}

function onDisk(
  megabytes: number,
  optionsOn: (disk: SmallDisk) => Scenario['options'],
): {
  disk: () => SmallDisk;
  prepare: NonNullable<Scenario['prepare']>;
} {
  let disk: SmallDisk | undefined;
  return {
    disk: () => {
      if (!disk) throw new Error('no disk yet');
      return disk;
    },
    prepare() {
      disk = mountSmallDisk(megabytes);
      return { options: { ...optionsOn(disk) }, clear: disk.remove };
    },
  };
}

const attachments = onDisk(8, ({ folder }) => ({ env: { DATA_DIR: folder } }));
const database = onDisk(400, ({ folder }) => {
  const own = join(folder, 'postgres');
  mkdirSync(own);
  const settings = { min_wal_size: '32MB', max_wal_size: '64MB' };
  return { afterMs: 12_000, postgres: { folder: own, settings } };
});

const embedded = onDisk(400, ({ folder }) => ({ isEmbedded: true, env: { DATA_DIR: folder } }));

export const storage: Scenarios = {
  'embedded-full': {
    title: 'The disk of an embedded database is full; then there is room, and the process is killed',
    prepare: embedded.prepare,
    async harm({ fleet, log, begin, end }, { scale }) {
      const disk = embedded.disk();
      begin();
      disk.fill(32 * 1024 * 1024);
      log('the disk is nearly full');
      await pause(Math.max(4_000, 10_000 * scale));
      disk.fill();
      log('the disk is full');
      await pause(Math.max(4_000, 10_000 * scale));
      end();
      disk.empty();
      // Requests before the end are checked, and must not be killed.
      await pause(2_000);
      await fleet.restart(0);
    },
    invariants: {
      'nothing acknowledged is lost, nothing is there twice, no gap': nothingLost,
      'reads go on': keptWorking(['read', 'mint', 'healthz'], 2_000, 0),
      'writes answer 503 and when to come back, within 2 s': refused(['send'], ['SVC_SERVICE_UNAVAILABLE'], noticedMs),
      'nothing but 503 and refused connections': onlyStatuses(503, 0),
    },
  },

  'attachments-full': {
    title: 'The disk of the attachments is full, then gone',
    prepare: attachments.prepare,
    async harm(scene) {
      const { fleet, begin, end, measure } = scene;
      const disk = attachments.disk();
      const places = [...fleet.processes.keys()];
      const kept = await upload(scene, 0);
      begin();
      disk.fill();
      const full = await Promise.all(places.map((place) => upload(scene, place)));
      measure('refusedUploads', full.filter(({ put }) => put === 503 || put === 507).length);
      measure('completedWithoutBytes', full.filter(({ completed }) => completed === 200).length);
      measure('downloadWhileFull', await download(scene, kept.id, 1));
      await pause(2_000);
      const blobs = join(disk.folder, 'blobs');
      renameSync(blobs, `${blobs}.away`);
      writeFileSync(blobs, '');
      const away = await Promise.all(places.map((place) => upload(scene, place)));
      measure('refusedUploadsWhileGone', away.filter(({ put }) => put === 503).length);
      measure('downloadWhileGone', await download(scene, kept.id, 1));
      end();
      rmSync(blobs);
      renameSync(`${blobs}.away`, blobs);
      disk.empty();
      // One look at the store answers for so long.
      await pause(noticedMs + 500);
      const again = await upload(scene, 2);
      measure('uploadAfter', again.completed);
      measure('downloadAfter', await download(scene, again.id, 0));
      measure('downloadOfOld', await download(scene, kept.id, 0));
    },
    invariants: {
      ...steady,
      'chat goes on': keptWorking(['send', 'read', 'mint'], 2_000),
      'uploads to a full disk are refused': fact('refusedUploads', 3, 3),
      'none is complete without its bytes': fact('completedWithoutBytes', 0, 0),
      'what is there can be had from a full disk': fact('downloadWhileFull', 200, 200),
      'uploads to a disk that is gone are refused': fact('refusedUploadsWhileGone', 3, 3),
      'downloads from it say 503': fact('downloadWhileGone', 503, 503),
      'uploads work afterwards': fact('uploadAfter', 200, 200),
      'downloads work afterwards': fact('downloadAfter', 200, 200),
      'what was there is there': fact('downloadOfOld', 200, 200),
    },
  },

  'postgres-full': {
    title: "PostgreSQL's disk is full for 10 s",
    prepare: database.prepare,
    async harm({ postgres, log, begin, end, measure }) {
      const disk = database.disk();
      begin();
      disk.fill();
      log("PostgreSQL's disk is full");
      await pause(10_000);
      disk.empty();
      end();
      measure('hasEnded', postgres.isRunning() ? 0 : 1);
      await postgres.start();
    },
    invariants: {
      ...steady,
      'sends, reads and mints work or are refused for now, within 2 s': quick(['send', 'read', 'mint']),
      'all is back within 10 s': backWithin(['send', 'read', 'mint'], 10_000),
    },
  },
};
