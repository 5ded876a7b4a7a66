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

test('[PIPE-29] pipes that are silent count as silent still when another process of their node has restarted', () => {
  const [a, b] = [stage(), stage()];
  meet(a, 'b', b);
  link(a, { b });
  for (const index of [0, 1]) a.pipes.onSilence(index, 'b/0', true);
  a.pipes.onSilence(1, 'b/1', true);
  b.second.ticket = newTicket();
  meet(a, 'b', b);
  a.pipes.onSilence(0, 'b/1', true);
  a.pipes.tick(0);
  assert.deepEqual(a.events, [], 'the new process may still be heard by the second of ours');
  a.pipes.onSilence(1, 'b/1', true);
  a.pipes.tick(1000);
  assert.deepEqual(a.events, [{ room, node: 'b' }]);
});

const manyNodes = (count: number) => Array.from({ length: count }, (_, index) => [`n${index}`, stage()] as const);
const silence = (here: Stage, node: string) =>
  [0, 1].forEach((index) => void [0, 1].forEach((end) => void here.pipes.onSilence(index, `${node}/${end}`, true)));

test('[PIPE-19] [PIPE-28] of 64 nodes those that no pipe hears make room for others; a pipe that is heard stays', () => {
  const a = stage();
  const [first, ...others] = manyNodes(65);
  assert.ok(first);
  const [, n0] = first;
  meet(a, 'n0', n0);
  link(a, { n0 });
  link(a, {});
  for (const [name, node] of others) meet(a, name, node);
  assert.deepEqual(link(a, { n0, n1: others[0]?.[1] ?? n0 }).unknown, ['n1'], 'there was no pipe to that one');
  assert.ok(!a.first.orders.some(({ order }) => order === 'close'));
  assert.deepEqual(linksOf(a.first).slice(-2), ['link n0/0', 'link n0/1']);
});

test('[PIPE-19] [PIPE-28] a further node is refused while all are heard; one whose pipes were closed, until it has others', () => {
  const [a, more] = [stage(), stage()];
  const nodes = manyNodes(64);
  for (const [name, node] of nodes) meet(a, name, node);
  link(a, Object.fromEntries(nodes));
  silence(a, 'n5');
  assert.throws(() => meet(a, 'more', more), { code: 'FULL' }, 'it has a room in common');
  link(a, {});
  meet(a, 'more', more);
  const closed = a.first.orders.flatMap(({ order, peer }) => (order === 'close' ? [peer] : []));
  assert.deepEqual(closed, ['n5/0', 'n5/1']);
  const n5 = nodes[5]?.[1] ?? assert.fail();
  link(a, { more });
  assert.throws(() => meet(a, 'n5', n5), { code: 'STALE' }, 'its pipes would count anew under the same keys');
  link(a, {});
  silence(a, 'more');
  for (const worker of n5.workers) worker.ticket = newTicket();
  meet(a, 'n5', n5);
  assert.deepEqual(link(a, { n5 }).unknown, []);
});
