import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit, subscribe } from '../../../testkit/chat/chat.ts';
import { checkHistory, type Finding, type LogEntry, type Sighting } from '../../../testkit/chat/history-checker.ts';
import { openSocket, type ServerFrame } from '../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import type { Db, Row } from '../../core/db.ts';
import type { Adapters } from '../../core/ports.ts';
import { type Sql, sql } from '../../core/sql.ts';

/**
 * The checker must be able to fail: the same small run on a whole build and on builds with one fault each, put between
 * the service and its adapters.
 */
interface Fault {
  /** Instead of storing a batch of sends, in the process that writes. */
  batch?: (db: Db, statements: readonly Sql[]) => Promise<Row[][]>;
  /** On the way to the process that the subscriber is connected to. */
  receive?: (message: Message, deliver: (message: Message) => void) => void;
  /** What that process reads from the store. */
  read?: (statement: Sql, row: object) => object;
}

/** What travels between processes, as far as these faults know it. */
type Message = { entry?: { change: number; message?: string } };

const messages = 60;
let fault: Fault = {};
let [first, second]: TestService[] = [];
let chat: ChatOf;

const writing = (adapters: Adapters): Adapters => {
  const { db } = adapters;
  return { ...adapters, db: { ...db, batch: (statements) => (fault.batch ?? storeAsAsked)(db, statements) } };
};
const storeAsAsked = (db: Db, statements: readonly Sql[]): Promise<Row[][]> => db.batch(statements);

const listening = (adapters: Adapters): Adapters => {
  const { db, bus } = adapters;
  const subscribeTo: typeof bus.subscribe = (topic, listener) =>
    bus.subscribe(topic, (message) =>
      fault.receive ? fault.receive(message as Message, listener) : listener(message),
    );
  const query: Db['query'] = async <T extends object>(statement: Sql) => {
    const rows = await db.query<T>(statement);
    // The fault keeps to the shape of the row.
    return rows.map((row) => (fault.read?.(statement, row) ?? row) as T);
  };
  return { ...adapters, bus: { ...bus, subscribe: subscribeTo }, db: { ...db, query } };
};

before(async () => {
  first = await startService({ wrap: writing });
  second = await startService({ beside: first, wrap: listening });
  chat = await createChatKit(first);
});
after(async () => {
  await second?.stop();
  await first?.stop();
});

async function findingsWith(broken: Fault): Promise<Finding['rule'][]> {
  const { id: room } = await chat.conversation(['alice']);
  const { token } = await chat.user('alice');
  const client = await openSocket(`${second?.url}/v1/chat/ws?token=${token}`);
  await subscribe(client, room);
  const log: LogEntry[] = [];
  const send = async (key: string): Promise<number> => {
    log.push({ is: 'invoke', key });
    const body = { text: key, clientMessageId: key };
    const { seq, change } = await chat.project.api.call('sendMessage', { room, body });
    log.push({ is: 'ok', key, seq, change });
    return seq;
  };
  fault = broken;
  await Promise.all(
    Array.from({ length: 4 }, async (_, one) => {
      for (let place = 0; place < messages / 4; place++) await send(`${one}/${place}`);
    }),
  );
  let end = 0;
  // Until one more arrives: what was sent before it has arrived by then, or never will.
  await eventually(
    async () => {
      const seq = await send(`end ${end++}`);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return received(client.frames).some((one) => one.seq >= seq);
    },
    { withinMs: 30_000 },
  );
  fault = {};
  const { messages: newest } = await chat.project.api.call('listMessages', { room, query: { limit: 100 } });
  const history = newest.map(({ clientMessageId, seq }) => ({ key: clientMessageId ?? '', seq })).reverse();
  await client.close();
  const findings = checkHistory(log, history, [{ by: 'alice', keys: received(client.frames) }]);
  return [...new Set(findings.map(({ rule }) => rule))];
}

function received(frames: readonly ServerFrame[]): Sighting['keys'] {
  return frames.flatMap((frame) => {
    if (frame.type !== 'message') return [];
    const { clientMessageId, seq } = frame['message'] as { clientMessageId: string; seq: number };
    return [{ key: clientMessageId, seq }];
  });
}

const onceAt = (place: number) => {
  let count = 0;
  return () => ++count === place;
};

function assertFound(found: readonly Finding['rule'][], ...rules: Finding['rule'][]): void {
  for (const rule of rules) assert.ok(found.includes(rule), `${rule} is not among: ${found.join()}`);
}

test('[CHECK-3] a whole build passes', async () => {
  assert.deepEqual(await findingsWith({}), []);
});

test('[CHECK-3] a store that forgets an acknowledged message is found out', async () => {
  const isTime = onceAt(5);
  const found = await findingsWith({
    async batch(db, statements) {
      const rows = await db.batch(statements);
      if (isTime()) {
        await db.execute(sql`
          delete from messages where id = (select id from messages order by created_at desc, seq desc limit 1)`);
      }
      return rows;
    },
  });
  assertFound(found, 'lost', 'gap');
});

test('[CHECK-3] a store that keeps a retry as a second message is found out', async () => {
  const isTime = onceAt(5);
  const found = await findingsWith({
    async batch(db, statements) {
      const rows = await db.batch(statements);
      if (isTime()) {
        await db.execute(sql`
          insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, client_message_id, created_at)
          select conversation_id, 1000, 1000, 1000, id || 'x', type, text, 'another', client_message_id, created_at
          from messages order by created_at desc, seq desc limit 1`);
      }
      return rows;
    },
  });
  assertFound(found, 'duplicated', 'gap');
});

test('[CHECK-3] a number that is acknowledged and not the one stored is found out', async () => {
  const found = await findingsWith({
    async batch(db, statements) {
      const [locks = [], rows = []] = await db.batch(statements);
      return [locks, rows.map(oneMore)];
    },
  });
  assertFound(found, 'order', 'live-differs');
});

/** Says one more than was stored, as a counter outside the lock would now and then. */
function oneMore(row: Row): Row {
  const { seq, record } = row as { seq: number | null; record: string | null };
  if (seq === null || record === null) return row;
  return { ...row, seq: seq + 1, record: JSON.stringify({ ...JSON.parse(record), seq: seq + 1 }) };
}

test('[CHECK-3] a bus that loses, repeats and reorders is no fault: the store fills in', async () => {
  let count = 0;
  const late: Message[] = [];
  const found = await findingsWith({
    receive(message, deliver) {
      count++;
      if (message.entry && count % 5 === 0) return;
      if (message.entry && count % 7 === 0) return void late.push(message);
      deliver(message);
      if (count % 3 === 0) deliver(message);
      for (const one of late.splice(0)) deliver(one);
    },
  });
  assert.deepEqual(found, []);
});

test('[CHECK-3] a bus that loses beside a store that does not fill in is found out', async () => {
  let count = 0;
  const found = await findingsWith({
    receive(message, deliver) {
      if (!message.entry || ++count % 10 !== 0) deliver(message);
    },
    // The read of missed changes comes back empty.
    read: (statement, row) => (statement.text.includes('conversation_changes') ? { ...row, text: '[]' } : row),
  });
  assertFound(found, 'lost', 'gap');
});

test('[CHECK-3] a bus that hands out a stale record is found out', async () => {
  let last: string | undefined;
  let count = 0;
  const found = await findingsWith({
    receive(message, deliver) {
      const { entry } = message;
      const stale = entry && ++count % 10 === 0 && last !== undefined ? { ...entry, message: last } : entry;
      last = entry?.message ?? last;
      deliver(stale ? { ...message, entry: stale } : message);
    },
  });
  assertFound(found, 'duplicated', 'lost');
});
