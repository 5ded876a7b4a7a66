import { rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from '../apps/server/src/core/db.ts';
import { sql } from '../apps/server/src/core/sql.ts';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { Chat } from '../packages/client/src/chat/index.ts';
import { createInbox } from '../packages/client/src/inbox/index.ts';
import { adminUrl, redisUrl, type Stage, startStage, tokenOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import { countCpu } from './cpu-usage.ts';
import { median, type Row } from './ratio.ts';

/** Both are in the active ones; the collector is in all the others too, each with somebody else, who wrote there. */
const [active, quiet] = [20, 10_000];
const [collector, modest, writer] = ['user-0', 'user-1', 'user-2'];
const rounds = 5;
const runMs = 1_500;
const makers = 16;
/** As many of the others stay awake. */
const awakeKept = 20;
/** What is written while an inbox is followed: at an even rate, to one active conversation after the other. */
const paced = { rounds: 3, messages: 100, everyMs: 50 };

async function fill({ project, rooms }: Stage): Promise<void> {
  let left = quiet;
  const make = async (): Promise<void> => {
    while (left-- > 0) {
      const senderId = `customer-${left}`;
      const body = { name: `quiet-${left}`, members: [collector, senderId] };
      const { id } = await project.api.call('createConversation', { body });
      await project.api.call('sendMessage', { room: id, body: { text: 'Long ago', senderId } });
    }
  };
  await Promise.all(Array.from({ length: makers }, make));
  for (const room of rooms)
    await project.api.call('sendMessage', { room, body: { text: 'Good morning', senderId: writer } });
}

/**
 * Entries go dormant two minutes after their last message, once somebody has looked at the inbox. The vacuum is the one
 * that the database runs by itself some time after so many changes.
 */
async function rest({ url }: Stage, token: string | undefined, db: Db): Promise<void> {
  const look = () => fetch(`${url}/v1/chat/inbox`, { headers: { authorization: `Bearer ${token}` } });
  for (let dormant = 0; dormant < quiet; ) {
    await wait(5_000);
    await (await look()).arrayBuffer();
    const [row] = await db.query<{ count: number }>(sql`select count(*) as count from dormant_entries`);
    dormant = (row?.count ?? 0) + awakeKept;
  }
  await db.script('vacuum (analyze) conversation_members');
}

interface Sides {
  ofCollector: number;
  ofModest: number;
}

/** In turns, so that a busy machine hits both alike. */
async function compare(generator: Child, { port }: Stage, tokens: readonly string[], path: string): Promise<Sides> {
  const p50 = async (token: string | undefined): Promise<number> =>
    (
      await requestsPerSecond(generator, {
        port,
        method: 'GET',
        paths: [path],
        headers: { authorization: `Bearer ${token}` },
        connections: 1,
        ms: runMs,
      })
    ).p50Ms;
  const [ofCollector, ofModest]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    ofCollector.push(await p50(tokens[0]));
    ofModest.push(await p50(tokens[1]));
  }
  return { ofCollector: median(ofCollector), ofModest: median(ofModest) };
}

/** CPU of server and database for a message, while the SDK follows the inbox of one of the two. */
async function compareFollowing(stage: Stage, tokens: readonly string[], cpu: () => Promise<() => Promise<number>>) {
  const [ofCollector, ofModest]: [number[], number[]] = [[], []];
  for (let round = 0; round < paced.rounds; round++) {
    ofCollector.push(await follow(stage, tokens[0] ?? '', cpu));
    ofModest.push(await follow(stage, tokens[1] ?? '', cpu));
  }
  return { ofCollector: median(ofCollector), ofModest: median(ofModest) };
}

async function follow(stage: Stage, token: string, cpu: () => Promise<() => Promise<number>>): Promise<number> {
  const chat = new Chat({ url: stage.url, token });
  await chat.connect();
  const inbox = createInbox(chat);
  await eventually(() => inbox.state.getSnapshot().badge !== null);
  const unread = (): number => inbox.state.getSnapshot().badge?.unreadMessages ?? 0;
  const [before, spent] = [unread(), await cpu()];
  for (let at = 0; at < paced.messages; at++) {
    const room = stage.rooms[at % active] ?? '';
    void stage.project.api.call('sendMessage', { room, body: { text: 'Good morning', senderId: writer } });
    await new Promise((resolve) => setTimeout(resolve, paced.everyMs));
  }
  await eventually(() => unread() === before + paced.messages);
  const cpuMs = (await spent()) / paced.messages;
  inbox.close();
  await chat.disconnect();
  return cpuMs;
}

const rowOfFollowing = ({ ofCollector, ofModest }: Sides): Row => ({
  question: `A message every ${paced.everyMs} ms to the active ones, while the SDK follows the inbox of a user in ${(quiet + active).toLocaleString('en')} conversations / of one in the ${active} active ones: CPU of server and database (medians)`,
  floor: { atMost: 1.3 },
  ratio: ofCollector / ofModest,
  detail: `${ofCollector.toFixed(2)} ms a message against ${ofModest.toFixed(2)} ms`,
  bars: { unit: 'ms', sides: { [`in ${quiet + active}`]: ofCollector, [`in ${active}`]: ofModest } },
});

const rowOf = (what: string, { ofCollector, ofModest }: Sides): Row => ({
  question: `${what} of a user in ${(quiet + active).toLocaleString('en')} conversations / of one in the ${active} active ones (medians)`,
  floor: { atMost: 1.3 },
  ratio: ofCollector / ofModest,
  detail: `p50 ${ofCollector.toFixed(2)} ms against ${ofModest.toFixed(2)} ms`,
  bars: { unit: 'ms', sides: { [`in ${quiet + active}`]: ofCollector, [`in ${active}`]: ofModest } },
});

/** What ten thousand conversations cost the inbox of who is in them. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const generator = startChild('./http-load.ts');
  const limits = {
    CHAT_MANAGE_RATE_LIMIT: '1000000',
    CHAT_SEND_RATE_LIMIT: '1000000',
    CHAT_HISTORY_RATE_LIMIT: '1000000',
  };
  const env = { DATABASE_URL: database.url ?? '', REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `bench-${process.pid}:` };
  const stage = await startStage({ dataDir, env: { ...env, ...limits }, conversations: active, users: 3 });
  try {
    await fill(stage);
    const tokens = await Promise.all([collector, modest].map((userId) => tokenOf(stage, userId)));
    await rest(stage, tokens[0], database.db);
    const page = await compare(generator, stage, tokens, `/v1/chat/inbox?limit=${active}`);
    const badge = await compare(generator, stage, tokens, '/v1/chat/inbox/badge');
    const cpu = () => countCpu([stage.child.process.pid ?? 0], env.DATABASE_URL);
    const following = await compareFollowing(stage, tokens, cpu);
    return [rowOf('First page of the inbox', page), rowOf('Badge', badge), rowOfFollowing(following)];
  } finally {
    await stage.child.stop();
    await generator.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
