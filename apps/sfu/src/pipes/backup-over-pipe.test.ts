import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { MediaEntry } from '@parley/media-description';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { AV1, line, local, stageRoom, VP8 } from '../../testkit/room-stage.ts';
import { Legs } from './legs.ts';
import type { PipeSettings } from './pipe.ts';
import type { PipeSocket } from './pipe-socket.ts';

/** One room in two processes: `p` publishes in the first, `s` is in the second. */
function stage() {
  const clock = { time: 0, now: () => clock.time, wall: () => clock.time };
  const receivers = new Map<number, (datagram: Buffer) => void>();
  const socket = {
    attach: (pipe: number, receive: (datagram: Buffer) => void) => void receivers.set(pipe, receive),
    detach: (pipe: number) => void receivers.delete(pipe),
    send(parts: readonly Buffer[]) {
      const datagram = Buffer.concat(parts);
      setImmediate(() => receivers.get(datagram.readUInt32BE(0))?.(datagram));
    },
    close() {},
  } as unknown as PipeSocket;
  const legs = [new Legs(socket, clock), new Legs(socket, clock)] as const;
  const [near, far] = [stageRoom((room) => legs[0].forRoom(room)), stageRoom((room) => legs[1].forRoom(room))];
  legs.forEach((one, index) => {
    const settings: PipeSettings = {
      ...{ id: 1 + index, peerId: 2 - index, host: '', port: 0, secret: '00'.repeat(32) },
      ...{ end: index === 0 ? 'a' : 'b', datagramBytes: 8192 },
    };
    one.execute({ order: 'open', peer: 'other', settings });
    one.execute({ order: 'link', peer: 'other', room: 'r' });
  });
  const until = async (isTrue: () => boolean, what: string): Promise<void> => {
    for (let round = 0; !isTrue(); round += 1) {
      assert.ok(round < 1000, what);
      clock.time += 100;
      for (const one of legs) one.tick(clock.time);
      for (const one of [near, far]) one.pass(100);
      await turn();
    }
  };
  return { near, far, until };
}

const keyFrame = (sequence: number, ssrc: number) =>
  rtpPacket({
    ...{ sequence, ssrc, payloadType: 96, timestamp: sequence * 3000 },
    payload: vp8Payload(sequence, 0, true),
  });

test('[PIPE-33] the backup codec is asked for by, and goes to, who needs it in another process', async () => {
  const { near, far, until } = stage();
  const { publisher } = near.join('p');
  const { subscriber } = far.join('s');
  const track = { cid: 'c', kind: 'VIDEO', source: 'CAMERA', backupCodec: 'VP8' } as const;
  publisher.offer([track], { ...local, media: [line('0', 'c', AV1, 111)] });
  const lineOf = (offer = far.of('sub.offer').at(-1)) =>
    offer?.description.media.find(({ trackId }) => trackId === 'trk_1');
  let revision = 0;
  await until(() => {
    const last = far.of('sub.offer').at(-1)?.revision ?? 0;
    // The first one opens the transport, before the track is known there.
    if (last > revision && !lineOf()) subscriber.answer(last, { ...local, media: [] });
    revision = last;
    return lineOf() !== undefined;
  }, 'the track is not offered in the other process');
  const mid = lineOf()?.mid ?? '';
  const answer: MediaEntry = { mid, kind: 'video', direction: 'recvonly', codecs: [{ ...VP8, rtx: 97 }] };
  subscriber.answer(revision, { ...local, media: [answer] });
  const backups = () => near.of('publish.quality').filter(({ backup }) => backup);
  await until(() => backups().length > 0, 'the publisher is not asked for the backup');
  assert.deepEqual(backups()[0], { room: 'r', participant: 'p', trackId: 'trk_1', layers: [], backup: true });

  let sequence = 0;
  const give = (ssrc: number) => near.give(keyFrame(++sequence, ssrc));
  const addBackup = (ssrc: number) =>
    publisher.offer([{ cid: 'c~', kind: 'VIDEO', source: 'CAMERA', backupOf: 'trk_1' }], {
      media: [line('1', 'c~', VP8, ssrc)],
    });
  addBackup(222);
  await until(() => {
    give(222);
    return far.heard('s').length > 3;
  }, 'the backup does not arrive');
  assert.deepEqual([new Set(far.heard('s')), far.of('track.published').length], [new Set([96]), 0]);
  assert.deepEqual(subscriber.trackIds, ['trk_1']);

  const asked = backups().length;
  publisher.restart({ ...local, media: [line('0', 'trk_1', AV1, 111)] });
  await until(
    () =>
      backups()
        .slice(asked)
        .some(({ layers }) => layers.length === 0),
    'it is not asked for anew',
  );
  addBackup(333);
  const heard = far.heard('s').length;
  await until(() => {
    give(333);
    return far.heard('s').length > heard;
  }, 'the new backup does not arrive');
  publisher.unpublish(['trk_1']);
  await until(() => subscriber.trackIds.length === 0, 'the track is still there');
});
