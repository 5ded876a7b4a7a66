import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MediaCommand, MediaCommandName, MediaResponses } from '@parley/contract/media-control';
import { systemClock } from '../media/clock.ts';
import { MediaError } from '../media/errors.ts';
import { Directory } from './directory.ts';
import { createExecutor } from './executor.ts';

const room = 'room_1';
const permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
  publishVideo: true,
  publishData: true,
};

/** A room in two processes: who joins goes to the second. `failing` are the commands that a process cannot answer. */
function stage() {
  const directory = new Directory();
  const controller = directory.controller('c1');
  directory.open({ room }, 0, 'c1');
  const workers = [0, 1].map(() => {
    const asked: MediaCommandName[] = [];
    const failing = new Set<MediaCommandName>();
    async function request<Name extends MediaCommandName>({ type }: MediaCommand<Name>): Promise<MediaResponses[Name]> {
      asked.push(type);
      if (failing.has(type)) throw new MediaError('INTERNAL', 'The media process ended.');
      const answer = { participants: [], rooms: [], created: true, removed: true, delivered: 1, closed: true };
      return answer as unknown as MediaResponses[Name];
    }
    return { isReady: true, whenReady: async () => {}, request, asked, failing };
  });
  const execute = createExecutor({
    ...{ directory, workers, capacity: 10, clock: systemClock },
    spread: { place: () => 1, link() {}, isBusy: false },
    fleetPipes: { meet() {}, link: () => ({ unknown: [] }), sync() {} },
    isDraining: () => false,
  });
  const data = { room, participant: 'ps_ada', identity: 'ada', permissions, autoSubscribe: true };
  const join = () => execute(controller, { type: 'participant.add', data });
  const [first, second] = workers;
  assert.ok(first && second);
  const send = () => execute(controller, { type: 'data.send', data: { room, payload: 'hi', reliable: true } });
  return { directory, first, second, join, send };
}

test('[PIPE-15] who joins while another process of the room ends has joined', async () => {
  const { directory, first, join } = stage();
  first.failing.add('snapshot');
  await join();
  assert.ok(first.asked.includes('snapshot'));
  assert.equal(directory.legOf({ room, participant: 'ps_ada' }), 1);
});

test('[PIPE-15] a join that fails after the process accepted it leaves nobody there', async () => {
  const { directory, second, join } = stage();
  second.failing.add('room.open');
  await assert.rejects(join(), { code: 'INTERNAL' });
  assert.deepEqual(second.asked, ['room.open', 'participant.add', 'participant.remove']);
  assert.equal(directory.legOf({ room, participant: 'ps_ada' }), undefined);

  const refused = stage();
  refused.second.failing.add('participant.add');
  await assert.rejects(refused.join(), { code: 'INTERNAL' });
  assert.ok(!refused.second.asked.includes('participant.remove'), 'it has nobody to remove');
});

test('[PIPE-40] data and the end of a room reach the other processes when one of them ends', async () => {
  const { first, second, join, send } = stage();
  await join();
  first.failing.add('data.send');
  assert.deepEqual(await send(), { delivered: 1 });
  second.failing.add('data.send');
  await assert.rejects(send(), { code: 'INTERNAL' });
});
