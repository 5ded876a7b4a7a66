import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { MediaEntry } from '@parley/media-description';
import { rtpPacket, vp8Payload } from '../../testkit/packets.ts';
import { AV1, line, local, stageRoom, VP8 } from '../../testkit/room-stage.ts';

type Stage = ReturnType<typeof stageRoom>;

/** A camera in AV1, which `s` cannot decode. */
async function undecodable() {
  const on = stageRoom();
  const publisher = on.join('p').publisher;
  const { subscriber } = on.join('s');
  const track = { cid: 'c', kind: 'VIDEO', source: 'CAMERA', backupCodec: 'VP8' } as const;
  publisher.offer([track], { ...local, media: [line('0', 'c', AV1, 111)] });
  await turn();
  const offered = on.of('sub.offer').find(({ participant }) => participant === 's');
  assert.deepEqual(
    offered?.description.media.find(({ mid }) => mid === '0')?.codecs?.map(({ name }) => name),
    ['AV1', 'VP8'],
  );
  const answer: MediaEntry = { mid: '0', kind: 'video', direction: 'recvonly', codecs: [{ ...VP8, rtx: 97 }] };
  subscriber.answer(offered?.revision ?? 0, { ...local, media: [answer] });
  return { ...on, publisher, subscriber };
}

const backups = (on: Pick<Stage, 'of'>) => on.of('publish.quality').filter(({ backup }) => backup);
const addBackup = ({ publisher }: Awaited<ReturnType<typeof undecodable>>) =>
  publisher.offer([{ cid: 'c~', kind: 'VIDEO', source: 'CAMERA', backupOf: 'trk_1' }], {
    media: [line('1', 'c~', VP8, 222)],
  });
const keyFrame = (sequence: number) =>
  rtpPacket({
    sequence,
    ssrc: 222,
    payloadType: 96,
    timestamp: sequence * 3000,
    payload: vp8Payload(sequence, 0, true),
  });

test('[MED-90] a publisher is asked for the backup codec when somebody cannot decode the track, and not before', async () => {
  const on = await undecodable();
  assert.deepEqual(backups(on), [{ room: 'r', participant: 'p', trackId: 'trk_1', layers: [], backup: true }]);
  on.pass(200);
  assert.equal(backups(on).length, 1, 'once');
  on.pass(5000);
  assert.equal(backups(on).length, 2, 'and again if it does not come');
  assert.equal(on.of('stream.state').length, 0);
});

test('[MED-90] the backup is the same track, and goes to those who need it', async () => {
  const on = await undecodable();
  assert.deepEqual(addBackup(on).tracks, [{ cid: 'c~', trackId: 'trk_1' }]);
  assert.equal(on.of('track.published').length, 1);
  on.give(keyFrame(1));
  on.pass(200);
  on.give(keyFrame(2));
  assert.deepEqual(on.heard('s'), [96, 96]);
  assert.deepEqual(on.subscriber.trackIds, ['trk_1']);
  assert.equal(on.room.mute({ room: 'r', participant: 'p', trackId: 'trk_1', muted: true, by: 'SERVER' }), true);
  on.give(keyFrame(3));
  assert.equal(on.heard('s').length, 2, 'the server mutes both');
});

test('[MED-90] a backup that nobody needs any more is turned off, and on again for the next', async () => {
  const on = await undecodable();
  addBackup(on);
  on.pass(200);
  on.subscriber.unsubscribe('trk_1');
  on.pass(200);
  on.pass(4000);
  assert.deepEqual(backups(on).at(-1)?.layers, [{ rid: '', enabled: false }]);
  on.room.subscribe(on.room.get('s'), { trackIds: ['trk_1'] });
  await turn();
  const { revision = 0 } = on.of('sub.offer').findLast(({ participant }) => participant === 's') ?? {};
  const answer: MediaEntry = { mid: '0', kind: 'video', direction: 'recvonly', codecs: [VP8] };
  on.subscriber.answer(revision, { media: [answer] });
  on.pass(200);
  assert.deepEqual(backups(on).at(-1)?.layers, [{ rid: '', enabled: true }]);
});

test('[MED-90] a backup goes with its track; on another transport it is asked for anew', async () => {
  const on = await undecodable();
  addBackup(on);
  const asked = backups(on).length;
  on.publisher.restart({ ...local, media: [line('0', 'trk_1', AV1, 111)] });
  on.pass(6000);
  assert.equal(backups(on).length, asked + 1);
  addBackup(on);
  const { description } = on.publisher.unpublish(['trk_1']);
  assert.deepEqual(
    description.media.map(({ mid, direction }) => `${mid} ${direction}`),
    ['0 inactive', '1 inactive'],
  );
  assert.deepEqual([on.subscriber.trackIds, on.publisher.publications.size], [[], 0]);
  assert.throws(() => addBackup(on), /to back up/);
});
