import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, redisUrl, type Stage, startStage, tokenOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import { median, type Row } from './ratio.ts';

/** Both are in the active ones; the collector is in all the others too, each with something unread in it. */
const [active, quiet] = [20, 10_000];
const [collector, modest, writer] = ['user-0', 'user-1', 'user-2'];
const rounds = 5;
const runMs = 1_500;
const makers = 16;

async function fill({ project, rooms }: Stage): Promise<void> {
  let left = quiet;
  const make = async (): Promise<void> => {
    while (left-- > 0) {
      const body = { name: `quiet-${left}`, members: [collector, writer] };
      const { id } = await project.api.call('createConversation', { body });
      await project.api.call('sendMessage', { room: id, body: { text: 'Long ago', senderId: writer } });
    }
  };
  await Promise.all(Array.from({ length: makers }, make));
  for (const room of rooms)
    await project.api.call('sendMessage', { room, body: { text: 'Good morning', senderId: writer } });
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
    const page = await compare(generator, stage, tokens, `/v1/chat/inbox?limit=${active}`);
    const badge = await compare(generator, stage, tokens, '/v1/chat/inbox/badge');
    return [rowOf('First page of the inbox', page), rowOf('Badge', badge)];
  } finally {
    await stage.child.stop();
    await generator.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}
