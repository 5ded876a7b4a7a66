import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { after, before, test } from 'node:test';
import { signMediaControl } from '@parley/contract/media-control-auth';
import WebSocket from 'ws';
import { processStartMs, processWorkMs } from '../../../server/testkit/kit/eventually.ts';
import { CommandRefused } from '../../testkit/control-client.ts';
import { eventually, startTestNode, TEST_SECRET, type TestNode } from '../../testkit/node.ts';
import { everything } from '../../testkit/permissions.ts';

let kit: TestNode;
before(async () => {
  kit = await startTestNode({ SFU_PROCESSES: '2' });
});
after(() => kit.stop());

const refused = (code: string) => (error: unknown) => error instanceof CommandRefused && error.code === code;
const add = (room: string, participant: string, identity = participant) => ({
  room,
  participant,
  identity,
  permissions: everything,
  autoSubscribe: true,
});

/** Status of an upgrade with this `Authorization`; 101 when it was let in. */
function upgradeStatus(authorization: string | undefined): Promise<number> {
  const url = `${kit.node.internalUrl.replace('http', 'ws')}/control?controller=0123456789abcdef`;
  const socket = new WebSocket(url, authorization === undefined ? {} : { headers: { authorization } });
  return new Promise((resolve) => {
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('error', () => {});
  });
}

test('[MED-20] only a fresh token made with the secret for this node opens the channel, and only once', async () => {
  const token = await signMediaControl(TEST_SECRET, 'test-node', Date.now(), 'nonce-0123456789');
  assert.equal(await upgradeStatus(undefined), 401);
  assert.equal(await upgradeStatus(`Bearer ${TEST_SECRET}`), 401);
  assert.equal(
    await upgradeStatus(`Bearer ${await signMediaControl('x'.repeat(40), 'test-node', Date.now(), 'n'.repeat(20))}`),
    401,
  );
  assert.equal(
    await upgradeStatus(`Bearer ${await signMediaControl(TEST_SECRET, 'other', Date.now(), 'n'.repeat(20))}`),
    401,
  );
  assert.equal(
    await upgradeStatus(
      `Bearer ${await signMediaControl(TEST_SECRET, 'test-node', Date.now() - 120_000, 'n'.repeat(20))}`,
    ),
    401,
  );
  assert.equal(await upgradeStatus(`Bearer ${token}`), 101);
  assert.equal(await upgradeStatus(`Bearer ${token}`), 401, 'a second use');
});

test('[MED-23] commands that make no sense are refused with a code, and the channel lives', async () => {
  const control = await kit.connect();
  await assert.rejects(control.command('stats', { room: 'nowhere' }), refused('NOT_FOUND'));
  await assert.rejects(control.command('participant.add', add('nowhere', 'ps_1')), refused('NOT_FOUND'));
  await assert.rejects(control.command('room.open', {} as never), refused('BAD_REQUEST'));
  await assert.rejects(control.command('toString' as never, {} as never), refused('BAD_REQUEST'));
  await control.command('room.open', { room: 'r1' });
  await assert.rejects(
    control.command('participant.add', { ...add('r1', 'ps_1'), permissions: { ...everything, join: false } }),
    refused('FORBIDDEN'),
  );
  await control.command('participant.add', add('r1', 'ps_1'));
  const offer = { room: 'r1', participant: 'ps_1', tracks: [], description: { media: [{ mid: 'a\r\nb' }] } };
  await assert.rejects(control.command('pub.offer', offer as never), refused('BAD_DESCRIPTION'));
  const track = { cid: 'c', kind: 'VIDEO', source: 'CAMERA' } as const;
  await assert.rejects(
    control.command('pub.offer', { ...offer, tracks: [track], description: { media: [] } }),
    refused('BAD_DESCRIPTION'),
  );
  await assert.rejects(
    control.command('sub.answer', { room: 'r1', participant: 'ps_1', revision: 99, description: { media: [] } }),
    refused('STALE'),
  );
  assert.deepEqual(
    await control.command('participant.remove', { room: 'r1', participant: 'ps_1', reason: 'PARTICIPANT_REMOVED' }),
    { removed: true },
  );
  assert.deepEqual(
    await control.command('participant.remove', { room: 'r1', participant: 'ps_1', reason: 'PARTICIPANT_REMOVED' }),
    { removed: false },
  );
  assert.deepEqual(await control.command('room.close', { room: 'r1', reason: 'ROOM_CLOSED' }), { closed: true });
  assert.deepEqual(await control.command('room.close', { room: 'r1', reason: 'ROOM_CLOSED' }), { closed: false });
  await control.drop();
});

test('[MED-40] a lost connection resumes by sequence and misses nothing', async () => {
  const control = await kit.connect();
  assert.equal(control.hello.resumed, false);
  await control.command('room.open', { room: 'r2' });
  await control.command('participant.add', add('r2', 'ps_a'));
  await eventually(() => control.events.some(({ type }) => type === 'sub.offer'), 'no offer came');
  const since = control.events.at(-1)?.seq ?? 0;
  await control.drop();

  const other = await kit.connect();
  await other.command('room.open', { room: 'r2' });
  await other.command('participant.add', add('r2', 'ps_b'));
  await other.command('participant.remove', { room: 'r2', participant: 'ps_a', reason: 'TOKEN_REVOKED' });

  const again = await kit.connect({ controller: control.controller, since });
  assert.equal(again.hello.resumed, true);
  assert.equal(again.hello.instanceId, control.hello.instanceId);
  const closed = await eventually(
    () => again.events.find(({ type }) => type === 'participant.closed'),
    'the missed event did not come',
  );
  assert.deepEqual(closed.data, { room: 'r2', participant: 'ps_a', identity: 'ps_a', reason: 'TOKEN_REVOKED' });
  const seqs = again.events.map(({ seq }) => seq);
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => since + 1 + index),
  );

  const stranger = await kit.connect({ since: 5 });
  assert.equal(stranger.hello.resumed, false);
  const { rooms } = await stranger.command('snapshot', {});
  assert.deepEqual(
    rooms.find(({ room }) => room === 'r2')?.participants.map(({ participant }) => participant),
    ['ps_b'],
  );
});

test('[MED-40] a participant follows its signaling socket to another controller, with the offer it still owes', async () => {
  const first = await kit.connect();
  const second = await kit.connect();
  await first.command('room.open', { room: 'r3' });
  await first.command('participant.add', add('r3', 'ps_a'));
  await eventually(() => first.events.some(({ type }) => type === 'sub.offer'), 'no offer came');
  await second.command('participant.attach', { room: 'r3', participant: 'ps_a' });
  const offer = await eventually(
    () => second.events.find(({ type }) => type === 'sub.offer'),
    'the offer was not repeated',
  );
  assert.ok(offer.type === 'sub.offer' && offer.data.revision === 1 && offer.data.description.ice);
  await assert.rejects(second.command('participant.attach', { room: 'r3', participant: 'ps_x' }), refused('NOT_FOUND'));
});

test('[MED-3] a join into a room of 49 others with two tracks each takes few offers, and each fits a signaling frame', async () => {
  const control = await kit.connect();
  const room = 'r_full';
  await control.command('room.open', { room });
  const fingerprint = `sha-256 ${Array(32).fill('AB').join(':')}`;
  const transport = { ice: { ufrag: 'abcd', pwd: 'x'.repeat(24) }, dtls: { role: 'actpass' as const, fingerprint } };
  const media = [
    {
      mid: '0',
      kind: 'audio' as const,
      direction: 'sendonly' as const,
      trackId: 'a',
      codecs: [{ name: 'opus' as const, pt: 111 }],
    },
    {
      mid: '1',
      kind: 'video' as const,
      direction: 'sendonly' as const,
      trackId: 'v',
      codecs: [{ name: 'VP8' as const, pt: 96 }],
      rids: ['q', 'h', 'f'],
    },
  ];
  const tracks = [
    { cid: 'a', kind: 'AUDIO' as const, source: 'MICROPHONE' as const },
    { cid: 'v', kind: 'VIDEO' as const, source: 'CAMERA' as const },
  ];
  for (let index = 0; index < 49; index += 1) {
    const participant = `ps_abcdefghijklmnopqrst${index}`;
    await control.command('participant.add', { ...add(room, participant), autoSubscribe: false });
    await control.command('pub.offer', { room, participant, tracks, description: { ...transport, media } });
  }
  const participant = 'ps_abcdefghijklmnopqrstuvwx';
  await control.command('participant.add', add(room, participant));
  const offers = () =>
    control.events.flatMap(({ type, data }) =>
      type === 'sub.offer' && data.participant === participant ? [data] : [],
    );
  let answered = 0;
  await eventually(async () => {
    const offer = offers()[answered];
    if (!offer) return false;
    const whole = { ...transport, dtls: { ...transport.dtls, role: 'active' as const } };
    const description = { ...(answered === 0 ? whole : {}), media: [] };
    await control.command('sub.answer', { room, participant, revision: offer.revision, description });
    answered += 1;
    return offers().flatMap(({ description }) => description.media).length === 99;
  }, 'not every track was offered');
  assert.ok(answered <= 3, `${answered} offers`);
  for (const { revision, description } of offers()) {
    const frame = { type: 'sub.offer', revision, description };
    assert.ok(JSON.stringify(frame).length <= 16_384);
  }
  await control.command('room.close', { room, reason: 'ROOM_CLOSED' });
});

test('[MED-24] a second session of an identity ends the first', async () => {
  const control = await kit.connect();
  await control.command('room.open', { room: 'r4' });
  await control.command('participant.add', add('r4', 'ps_old', 'alice'));
  await control.command('participant.add', add('r4', 'ps_new', 'alice'));
  const closed = await eventually(
    () => control.events.find(({ type }) => type === 'participant.closed'),
    'the first session lives',
  );
  assert.deepEqual(closed.data, { room: 'r4', participant: 'ps_old', identity: 'alice', reason: 'DUPLICATE_IDENTITY' });
});

test('[MED-24] of two sessions of an identity the one admitted later stays, whichever add comes last', async () => {
  const control = await kit.connect();
  await control.command('room.open', { room: 'r4b' });
  await control.command('participant.add', { ...add('r4b', 'ps_new', 'alice'), order: 2 });
  const late = control.command('participant.add', { ...add('r4b', 'ps_old', 'alice'), order: 1 });
  await assert.rejects(late, refused('STALE'));
  const { rooms } = await control.command('snapshot', { room: 'r4b' });
  assert.deepEqual(
    rooms[0]?.participants.map(({ participant }) => participant),
    ['ps_new'],
  );
});

test('[MED-11] garbage on the media port changes nothing', async () => {
  const control = await kit.connect();
  await control.command('room.open', { room: 'r5' });
  await control.command('participant.add', add('r5', 'ps_a'));
  const pids = kit.node.pids();
  const socket = createSocket('udp4');
  const stun = Buffer.from('000100002112a442000000000000000000000000', 'hex');
  for (let round = 0; round < 300; round += 1) {
    const noise = Buffer.from(Array.from({ length: round }, (_, index) => (index * 31 + round * 17) & 0xff));
    if (round % 3 === 0 && noise.length > 0) noise[0] = [0, 20, 128][round % 9 === 0 ? 0 : round % 2 ? 1 : 2] ?? 0;
    const packet = round % 5 === 0 ? Buffer.concat([stun, noise]) : noise;
    if (round % 10 === 0) packet.writeUInt16BE(Math.max(0, packet.length - 20) & 0xfffc, 2);
    for (const port of [kit.config.udpPort, kit.config.udpPort + 1])
      await new Promise((resolve) => socket.send(packet, port, '127.0.0.1', resolve));
  }
  socket.close();
  await control.command('stats', { room: 'r5' });
  assert.deepEqual(kit.node.pids(), pids);
  assert.deepEqual(kit.problems, []);
});

test('[MED-41] a crashed media process takes only its rooms, and comes back', async () => {
  const kit = await startTestNode({ SFU_PROCESSES: '2' });
  const control = await kit.connect();
  // Each room goes to the process with the fewest participants, so both have some.
  const rooms = ['r6', 'r7', 'r8', 'r9'];
  for (const room of rooms) {
    await control.command('room.open', { room });
    await control.command('participant.add', add(room, `ps_${room}`));
  }
  const victim = kit.node.pids()[0] ?? assert.fail('no process');
  process.kill(victim, 'SIGKILL');
  await eventually(
    () => control.events.some(({ type }) => type === 'room.closed'),
    'no controller was notified',
    processWorkMs,
  );
  const lost = control.events.flatMap(({ type, data }) => (type === 'room.closed' ? [data] : []));
  const left = (await control.command('snapshot', {})).rooms.map(({ room }) => room);
  assert.ok(lost.length > 0 && lost.every(({ reason }) => reason === 'MEDIA_FAILURE'));
  assert.ok(
    rooms.some((room) => left.includes(room)),
    'the other process kept its rooms',
  );
  for (const { room } of lost) {
    assert.ok(!left.includes(room));
    if (rooms.includes(room))
      assert.ok(
        control.events.some(({ type, data }) => type === 'participant.closed' && data.participant === `ps_${room}`),
      );
  }
  await eventually(
    () => kit.node.isReady() && kit.node.pids().length === 2,
    'the process was not started again',
    processStartMs,
  );
  for (const { room } of lost) assert.deepEqual(await control.command('room.open', { room }), { created: true });
  await kit.stop();
});

test('[MED-46] a room asked for while the only media process starts again waits for it instead of being refused', async () => {
  const kit = await startTestNode({ SFU_PROCESSES: '1' });
  const control = await kit.connect();
  process.kill(kit.node.pids()[0] ?? assert.fail('no process'), 'SIGKILL');
  await eventually(() => !kit.node.isReady(), 'the process lives', processWorkMs);
  let refusals = 0;
  // Refusals that do not wait would be hundreds before the process is back.
  while (refusals < 5) {
    const opened = await control.command('room.open', { room: 'r10' }).catch(() => null);
    if (opened) break;
    refusals += 1;
  }
  assert.ok(refusals < 5, 'refused without waiting');
  await kit.stop();
});

test('[MED-78] opening a room again keeps it open for who is about to join', async () => {
  const control = await kit.connect();
  const room = 'room_rejoined';
  // Longer than the timeout in all, and each pause far below it: a busy machine does not make the room empty for too long.
  const open = () => control.command('room.open', { room, emptyTimeoutSeconds: 3 });
  await open();
  const until = performance.now() + 5_000;
  while (performance.now() < until) {
    assert.deepEqual(await open(), { created: false });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await control.command('participant.add', add(room, 'ps_rejoins'));
  await control.command('room.close', { room, reason: 'ROOM_CLOSED' });
  await control.drop();
});
