import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createDeferred } from '../deferred.ts';
import { ConnectionError } from '../errors.ts';
import type { Permissions } from '../signal/records.ts';
import { LocalParticipant, type LocalParticipantPort } from './local-participant.ts';
import type { LocalTrack } from './local-track.ts';

const speaker: Permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: false,
  publishVideo: false,
  publishData: false,
  updateMetadata: false,
};

/** A participant of a room that is being joined, and what it asks of it. */
function rig() {
  const published: string[] = [];
  const encoded: unknown[] = [];
  const connected = createDeferred<void>();
  connected.promise.catch(() => {}); // not every test waits for it
  let isConnecting = true;
  let onChange = (): void => {};
  const port = {
    isConnecting: () => isConnecting,
    whenConnected: () => connected.promise,
    async publish(tracks: readonly LocalTrack[]) {
      published.push(...tracks.map(({ kind }) => kind));
      encoded.push(...tracks.map(({ options }) => options));
    },
    onChange: () => onChange(),
  };
  const self = new LocalParticipant(port as unknown as LocalParticipantPort);
  return {
    self,
    published,
    encoded,
    joined(permissions: Permissions) {
      isConnecting = false;
      self.permissions = permissions;
      connected.resolve();
    },
    /** When its track is there, and before it asks for more. */
    meanwhile(run: () => void) {
      onChange = run;
    },
    failed() {
      isConnecting = false;
      connected.reject(new ConnectionError('network'));
    },
  };
}

function fakeMedia(): MediaStreamTrack & { isStopped: boolean } {
  const media = { kind: 'video', enabled: true, isStopped: false, getSettings: () => ({}) };
  return Object.assign(new EventTarget(), media, {
    stop(this: { isStopped: boolean }) {
      this.isStopped = true;
    },
  }) as unknown as MediaStreamTrack & { isStopped: boolean };
}

test('[SDK-130] what is published while the room is joined waits for the join, and no longer', async () => {
  const { self, published, joined } = rig();
  const publishing = self.publish(fakeMedia());
  await nextTurn();
  assert.deepEqual([published, self.tracks.size], [[], 1]);
  joined(speaker);
  await publishing;
  assert.deepEqual(published, ['video']);
});

test('[SDK-130] a join that does not allow it, or fails, publishes nothing and keeps no track', async () => {
  for (const [end, error] of [
    ['refused', { code: 'SVC_PUBLISH_NOT_ALLOWED' }],
    ['failed', ConnectionError],
  ] as const) {
    const { self, published, joined, failed } = rig();
    const publishing = assert.rejects(self.publish(fakeMedia()), error);
    if (end === 'failed') failed();
    else joined({ ...speaker, publish: false });
    await publishing;
    assert.deepEqual([published, self.tracks.size], [[], 0]);
  }
});

test('[SDK-130] before connect() nothing is published and no device opened', async () => {
  const { self, failed } = rig();
  failed();
  await assert.rejects(self.publish(fakeMedia()), { code: 'not_connected' });
  await assert.rejects(self.setCamera(true), { code: 'not_connected' });
});

test('[SDK-130] a join that is over before the device is open decides as well', async () => {
  const { self, published, joined, meanwhile } = rig();
  meanwhile(() => joined({ ...speaker, publish: false }));
  await assert.rejects(self.publish(fakeMedia()), { code: 'SVC_PUBLISH_NOT_ALLOWED' });
  assert.deepEqual([published, self.tracks.size], [[], 0]);
});

test('[SDK-74] the sound of a screen that the application captured is music, unless it says otherwise', async () => {
  const { self, encoded, joined } = rig();
  joined(speaker);
  const source = 'SCREEN_SHARE_AUDIO';
  await self.publish(fakeMedia(), { source });
  await self.publish(fakeMedia(), { source, music: false });
  await self.publish(fakeMedia(), { source: 'MICROPHONE' });
  assert.deepEqual(encoded, [
    { source, music: true },
    { source, music: false },
    { source: 'MICROPHONE', music: false },
  ]);
});
