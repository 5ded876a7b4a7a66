import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PipeOrder } from '../pipes/legs.ts';
import { Directory } from './directory.ts';
import { FleetPipes } from './fleet-pipes.ts';

const room = 'room_1';
const secret = 'the-secret-of-the-fleet-of-32-bytes-or-more';
let tickets = 0;
const newTicket = (): string => String(++tickets).padStart(32, '0');

/** A node of two processes with a room in the first one. */
function stage(secrets: readonly string[] = [secret]) {
  const directory = new Directory();
  const controller = directory.controller('c1');
  const events: unknown[] = [];
  controller.connect((frame) => void events.push(JSON.parse(frame).data), undefined);
  directory.open({ room }, 0, 'c1');
  const workers = [0, 1].map((index) => {
    const orders: PipeOrder[] = [];
    const order = (one: PipeOrder) => void orders.push(one);
    return { isReady: true, ticket: newTicket(), fleetPort: 4600 + index, orders, order };
  });
  const pipes = new FleetPipes({ workers, directory, secrets, host: '10.0.0.1' });
  const [first, second] = workers;
  assert.ok(first && second);
  return { directory, workers, first, second, pipes, events };
}
type Stage = ReturnType<typeof stage>;

const describe = ({ pipes }: Stage) => pipes.describe() ?? assert.fail('it has pipes');
const meet = (here: Stage, node: string, there: Stage) => here.pipes.meet(node, describe(there));
const link = (here: Stage, nodes: Record<string, Stage>) =>
  here.pipes.link({
    room,
    own: describe(here).id,
    nodes: Object.entries(nodes).map(([node, there]) => ({ node, pipes: describe(there).id })),
  });
const settingsOf = ({ orders }: Stage['first'], peer: string) =>
  orders.flatMap((order) => (order.order === 'open' && order.peer === peer ? [order.settings] : [])).at(-1) ??
  assert.fail(`no pipe to ${peer}`);
const linksOf = ({ orders }: Stage['first']) =>
  orders.flatMap(({ order, peer }) => (order === 'open' ? [] : [`${order} ${peer}`]));

test('[PIPE-16] both ends derive the keys of a pipe from the secret of the fleet and what is new at each start of either', () => {
  const [a, b] = [stage(), stage()];
  meet(a, 'b', b);
  meet(b, 'a', a);
  link(a, { b });
  link(b, { a });
  const [ours, theirs] = [settingsOf(a.first, 'b/1'), settingsOf(b.second, 'a/0')];
  assert.deepEqual([ours.secret, ours.id, ours.peerId], [theirs.secret, theirs.peerId, theirs.id]);
  assert.notEqual(ours.end, theirs.end);
  assert.deepEqual([ours.host, ours.port], ['10.0.0.1', 4601]);
  const secrets = [ours, settingsOf(a.first, 'b/0'), settingsOf(a.second, 'b/1')].map((one) => one.secret);
  assert.equal(new Set(secrets).size, 3, 'each pipe has its own');

  const stranger = stage(['another-secret-of-32-bytes-or-even-more']);
  stranger.first.ticket = b.second.ticket;
  meet(stranger, 'a', a);
  link(stranger, { a });
  assert.notEqual(settingsOf(stranger.first, 'a/0').secret, ours.secret, 'without the secret the ticket is nothing');

  const rotated = stage(['another-secret-of-32-bytes-or-even-more', secret]);
  rotated.first.ticket = b.second.ticket;
  meet(rotated, 'a', a);
  link(rotated, { a });
  assert.deepEqual(settingsOf(rotated.first, 'a/0').betweenNodes, { otherSecrets: [ours.secret] });
});

test('[PIPE-17] a room is linked to every process of its other nodes, anew where one has restarted, and no more once it is left out', () => {
  const [a, b] = [stage(), stage()];
  assert.deepEqual(link(a, { b }).unknown, ['b'], 'it has to be met first');
  assert.deepEqual(linksOf(a.first), []);
  meet(a, 'b', b);
  assert.deepEqual(linksOf(a.first), ['link b/0', 'link b/1']);
  assert.deepEqual(linksOf(a.second), [], 'the room is not there');
  assert.deepEqual(link(a, { b }), { unknown: [] });
  assert.equal(linksOf(a.first).length, 2, 'once');
  a.directory.open({ room }, 1, 'c1');
  a.pipes.sync(room);
  assert.deepEqual(linksOf(a.second), ['link b/0', 'link b/1']);

  const before = settingsOf(a.first, 'b/1').secret;
  b.second.ticket = newTicket();
  assert.deepEqual(link(a, { b }).unknown, ['b'], 'it is another one by now');
  meet(a, 'b', b);
  assert.notEqual(settingsOf(a.first, 'b/1').secret, before);
  assert.deepEqual(linksOf(a.first).slice(2), ['link b/1']);

  a.first.ticket = newTicket();
  a.pipes.lose(0);
  a.directory.lose(room, 0);
  a.pipes.restore(0);
  assert.notEqual(settingsOf(a.first, 'b/1').secret, before, 'a process that restarted opens all of its pipes');
  const own = describe(a);
  assert.deepEqual(a.pipes.link({ room, own: 'as it was', nodes: [] }).pipes, own, 'and servers hear of it');
  assert.deepEqual(linksOf(a.second).slice(-2), ['unlink b/0', 'unlink b/1']);
});

test('[PIPE-18] a node that no pipe hears is reported to the servers of its rooms, and again while that lasts', () => {
  const [a, b] = [stage(), stage()];
  meet(a, 'b', b);
  link(a, { b });
  const keys = [0, 1].flatMap((index) => ['b/0', 'b/1'].map((peer) => [index, peer] as const));
  for (const [index, peer] of keys.slice(1)) a.pipes.onSilence(index, peer, true);
  a.pipes.tick(0);
  assert.deepEqual(a.events, [], 'one of them is heard');
  a.pipes.onSilence(0, 'b/0', true);
  for (const now of [1000, 2000, 6000]) a.pipes.tick(now);
  assert.deepEqual(a.events, [
    { room, node: 'b' },
    { room, node: 'b' },
  ]);
  a.pipes.onSilence(1, 'b/1', false);
  a.pipes.tick(20_000);
  assert.equal(a.events.length, 2);
});

test('[PIPE-19] nodes that are met are bounded: those without a room are forgotten, and their pipes closed', () => {
  const [a, b] = [stage(), stage()];
  const names = Array.from({ length: 64 }, (_, index) => `node-${index}`);
  for (const name of names) meet(a, name, b);
  link(a, Object.fromEntries(names.map((name) => [name, b])));
  assert.throws(() => meet(a, 'one more', b), { code: 'FULL' });
  link(a, {});
  meet(a, 'one more', b);
  assert.deepEqual(link(a, { 'node-0': b, 'one more': b }).unknown, ['node-0']);
  assert.ok(a.first.orders.some(({ order, peer }) => order === 'close' && peer === 'node-0/0'));
});
