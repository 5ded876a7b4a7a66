import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FakeMedia, fakeMedia } from '../../testkit/fake-devices.ts';
import { LocalTrack } from './local-track.ts';
import type { TrackProcessor } from './track-processor.ts';

interface World {
  track: LocalTrack;
  /** What the sender was given, in order. */
  sent: (string | null)[];
  opened: FakeMedia[];
  processor: TrackProcessor & { log: string[]; failure: Error | null };
  ended: number;
}

function camera(): World {
  const opened = [fakeMedia('video', 'cam-1')];
  const log: string[] = [];
  const world: Omit<World, 'track'> = {
    sent: [],
    opened,
    ended: 0,
    processor: {
      name: 'fake',
      log,
      failure: null,
      async start(source) {
        if (this.failure) throw this.failure;
        log.push(`start ${source.getSettings().deviceId}`);
        return fakeMedia('video', 'processed');
      },
      stop: () => void log.push('stop'),
    },
  };
  const track = new LocalTrack({
    media: opened[0] as FakeMedia,
    source: 'CAMERA',
    async recapture(deviceId = '') {
      if (deviceId === 'gone') throw new Error('gone');
      const media = fakeMedia('video', deviceId);
      opened.push(media);
      return media;
    },
    port: {
      setMuted: async () => {},
      replace: async (_track, media) => void world.sent.push(media && (media.getSettings().deviceId ?? '')),
      unpublish: async () => {},
      getStats: async () => null,
      ended() {
        world.ended += 1;
      },
    },
  });
  return Object.assign(world, { track });
}

const live = ({ opened }: World): number => opened.filter(({ readyState }) => readyState === 'live').length;

test('[SDK-66] a processor takes its place in the track, follows the device, and leaves it again', async () => {
  const world = camera();
  const { track, processor, sent } = world;
  await track.setProcessor(processor);
  assert.deepEqual([sent, track.deviceId, track.processor], [['processed'], 'cam-1', processor]);
  await track.setDevice('cam-2');
  assert.deepEqual([sent, track.deviceId, live(world)], [['processed', 'processed'], 'cam-2', 1]);
  await track.mute();
  assert.deepEqual([sent.at(-1), live(world)], [null, 0]);
  await track.unmute();
  await track.setProcessor(null);
  assert.deepEqual([sent.slice(3), live(world)], [['processed', 'cam-2'], 1]);
  const restarts = ['stop', 'start cam-2', 'stop', 'start cam-2', 'stop'];
  assert.deepEqual(processor.log, ['start cam-1', ...restarts]);
});

test('[SDK-66] when a processor fails nothing is sent without it', async () => {
  const world = camera();
  const { track, processor, sent } = world;
  await track.setProcessor(processor);
  await track.mute();
  processor.failure = new Error('no model');
  await assert.rejects(track.unmute(), /no model/);
  assert.deepEqual([track.isMuted, sent.at(-1), live(world)], [true, null, 0]);
  processor.failure = null;
  await track.unmute();
  assert.deepEqual([track.isMuted, sent.at(-1), live(world)], [false, 'processed', 1]);
  await track.setProcessor(null);
  processor.failure = new Error('no model');
  await assert.rejects(track.setProcessor(processor), /no model/);
  assert.deepEqual([track.processor, sent.at(-1)], [null, 'cam-1'], 'one that never began changes nothing');
});

test('[SDK-62] changes of the device come one after the other, and leave one device open', async () => {
  const world = camera();
  const { track, sent } = world;
  await Promise.all([track.setDevice('cam-2'), track.setDevice('cam-3'), track.mute()]);
  assert.deepEqual([sent, live(world)], [['cam-2', 'cam-3', null], 0]);
  await track.unmute();
  assert.deepEqual([track.deviceId, live(world)], ['cam-3', 1]);
  const [changed] = await Promise.allSettled([track.setDevice('cam-1'), track.stop()]);
  assert.deepEqual([changed.status, live(world)], ['fulfilled', 0], 'one that opens after the end is closed');
});

test('[SDK-24] the last word counts: a camera that is turned off while it opens stays off, and the other way round', async () => {
  const world = camera();
  const { track, sent } = world;
  await track.mute();
  await Promise.all([track.unmute(), track.mute()]);
  assert.deepEqual([track.isMuted, sent.at(-1), live(world)], [true, null, 0]);
  const opening = track.unmute();
  await Promise.resolve();
  await Promise.resolve();
  await Promise.all([opening, track.mute()]);
  assert.deepEqual([track.isMuted, sent.at(-1), live(world)], [true, null, 0], 'turned off while it opened');
  await Promise.all([track.unmute(), track.mute(), track.unmute()]);
  assert.deepEqual([track.isMuted, sent.at(-1), live(world)], [false, 'cam-1', 1]);
  assert.equal(track.mediaStreamTrack.enabled, true);
  await Promise.all([track.mute(), track.unmute()]);
  assert.deepEqual([track.isMuted, track.mediaStreamTrack.enabled, live(world)], [false, true, 1]);
});

test('[SDK-37] when neither the new device nor the old one can be opened, the track ends', async () => {
  const world = camera();
  await world.track.setDevice('gone').catch(() => {});
  assert.deepEqual([world.track.deviceId, world.ended], ['cam-1', 0]);
  const lost = camera();
  lost.opened[0]?.stop();
  Object.assign(lost.opened[0] as object, { getSettings: () => ({ deviceId: 'gone' }) });
  await assert.rejects(lost.track.setDevice('gone'), /gone/);
  assert.equal(lost.ended, 1);
});
