import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import type { Outcome } from './attempts.ts';
import { BatchQuery } from './batch-query.ts';
import { createLine } from './line.ts';

type Sent = Outcome<pg.QueryResult[]>;

const done: Sent = { status: 'done', value: [] };
const lost: Sent = { status: 'failed', error: new Error('lost'), broken: new Error('lost') };

/** Connections that know the statement `known`, and a database that answers when the test says so. */
function slowDatabase({ isHeldBack = false } = {}) {
  const written: string[] = [];
  const released: string[] = [];
  const answers: ((outcome: Sent) => void)[] = [];
  const working = new Set<pg.PoolClient>();
  let connections = 0;
  const connect = async () => {
    const client = `c${++connections}`;
    const nothing = () => undefined;
    const connection = {
      parsedStatements: { known: 'known' },
      stream: { cork: nothing, uncork: nothing },
      parse: nothing,
      bind: ({ values }: { values: string[] }) => written.push(`${client} ${values[0]}`),
      describe: nothing,
      execute: nothing,
      sync: nothing,
    };
    return { client, connection } as unknown as pg.PoolClient & { client: string };
  };
  const send = createLine({
    connect,
    release: (client, isBroken) =>
      released.push(`${(client as unknown as { client: string }).client}${isBroken ? ' broken' : ''}`),
    send: (client, query) => {
      // As the client does: one that works on another query, or still has to hear of its end, sends nothing.
      if (!isHeldBack && !working.has(client)) {
        query.submit((client as unknown as { connection: pg.Connection }).connection);
      }
      working.add(client);
      return new Promise((resolve) => answers.push(resolve));
    },
  });
  let batches = 0;
  /** Gives the outcome in a list, so that it is not waited for. */
  const ask = async (name = 'known'): Promise<[Promise<Sent>]> => {
    const outcome = send(
      new BatchQuery([{ name, text: name, values: [`b${++batches}`] }], { getTypeParser: () => String }),
    );
    await nextTurn();
    return [outcome];
  };
  const answer = async (batch: number, outcome = done): Promise<void> => {
    answers[batch]?.(outcome);
    await nextTurn();
  };
  return { ask, answer, written, released };
}

test('[STO-13] a line: the second batch is written on the connection of the first, which is given back after the last', async () => {
  const { ask, answer, written, released } = slowDatabase();
  const [first] = await ask();
  await ask();
  assert.deepEqual(written, ['c1 b1', 'c1 b2'], 'nobody has been answered yet');
  await answer(0);
  assert.deepEqual(await first, done);
  await ask();
  assert.deepEqual([written.at(-1), released], ['c1 b3', []]);
  await answer(1);
  await answer(2);
  assert.deepEqual(released, ['c1']);
  await ask();
  assert.equal(written.at(-1), 'c2 b4', 'the next line has a connection of its own');
});

test('[STO-13] a line: a third batch, and whoever has statements to name or follows one who has, waits its turn', async () => {
  for (const names of [
    ['known', 'known', 'known'],
    ['known', 'new'],
    ['new', 'known'],
  ]) {
    const { ask, answer, written } = slowDatabase();
    for (const name of names) await ask(name);
    const before = names.slice(1).map((_name, at) => `c1 b${at + 1}`);
    assert.deepEqual(written, before);
    for (const at of before.keys()) await answer(at);
    assert.deepEqual(written, [...before, `c2 b${names.length}`], 'in the order they came');
  }
});

test('[STO-13] a line: nothing is written before a batch that its connection holds back', async () => {
  const { ask, written } = slowDatabase({ isHeldBack: true });
  await ask();
  await ask();
  assert.deepEqual(written, [], 'its answer would be taken for that of the other');
});

test('[STO-13] a line: two who come while it is being opened keep their order, and a failure to open it is no end', async () => {
  const { ask, written } = slowDatabase();
  const both = [ask(), ask()];
  await Promise.all(both);
  assert.deepEqual(written, ['c1 b1'], 'the second waits until the first is under way, and then for its end');

  let attempts = 0;
  const refused = createLine({
    connect: async () => {
      attempts++;
      throw new Error('refused');
    },
    release: () => assert.fail('there is nothing to give back'),
    send: () => assert.fail('there is nothing to send on'),
  });
  const query = () => new BatchQuery([], { getTypeParser: () => String });
  const outcomes = await Promise.allSettled([refused(query()), refused(query()), refused(query())]);
  assert.deepEqual([outcomes.map(({ status }) => status), attempts], [['rejected', 'rejected', 'rejected'], 3]);
});

test('[STO-13] a line: nobody gets in line on a connection that broke', async () => {
  const { ask, answer, written, released } = slowDatabase();
  await ask();
  await ask();
  await answer(0, lost);
  await ask();
  assert.deepEqual(written, ['c1 b1', 'c1 b2']);
  await answer(1, lost);
  assert.deepEqual([written.at(-1), released], ['c2 b3', ['c1 broken']]);
});
