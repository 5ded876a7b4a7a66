import { rm } from 'node:fs/promises';
import { WebSocket } from 'ws';
import { type Sql, sql } from '../apps/server/src/core/sql.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase, type TestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, type Stage, startStage, tokensOf } from './chat-stage.ts';
import { type Child, requestsPerSecond, startChild } from './children.ts';
import type { Load } from './http-load.ts';
import type { Row } from './ratio.ts';

const few = 100;
const many = 100_000;
const messagesEach = 5;
const membersEach = 10;
/** A usual user is in ten conversations, a busy one in fifty, and one is in all. */
const busyIn = 50;
const asked = 500;
const runMs = 1_500;
const rounds = 3;

/** A project with this many conversations, written by the database itself as if they had been used. */
interface Place {
  stage: Stage;
  /** Some of them, from all over. */
  rooms: string[];
  stop(): Promise<void>;
}

async function fill(database: TestDatabase, projectId: string, count: number): Promise<void> {
  const step = 10_000;
  for (let from = 0; from < count; from += step) {
    const numbers = sql`generate_series(${from + 1}::int, ${Math.min(from + step, count)}::int) n`;
    await fillPart(database, { projectId, count, numbers });
  }
  for (const table of ['conversations', 'conversation_members', 'messages']) {
    await database.db.script(`vacuum analyze ${table}`);
  }
}

async function fillPart({ db }: TestDatabase, { projectId, count, numbers }: Part): Promise<void> {
  const named = sql`${numbers} join conversations c on c.public_id = 'conv_' || lpad(n::text, 24, '0')`;
  await db.execute(sql`
    insert into conversations (id, public_id, project_id, environment, name, type, epoch, last_seq, last_change,
      last_position, member_count, message_count, last_message_at, created_at, updated_at)
    select gen_random_uuid(), 'conv_' || lpad(n::text, 24, '0'), ${projectId}, 'DEVELOPMENT', 'talk-' || n, 'GROUP', 'e',
      ${messagesEach}::int, ${messagesEach}::int, ${messagesEach}::int, ${membersEach}::int, ${messagesEach}::int, now(),
      now() - n * interval '1 second', now()
    from ${numbers}`);
  await db.execute(sql`
    insert into conversation_members (conversation_id, user_id, role, joined_at)
    select c.id, user_id, 'MEMBER', now() from ${named}, lateral (
      select 'usual-' || (n + k * 7919) % ${count}::int as user_id from generate_series(1, ${membersEach}::int) k
      union all select 'everywhere'
      union all select 'busy' where n % ${count / busyIn}::int = 0) u
    on conflict do nothing`);
  await db.execute(sql`
    insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, created_at)
    select c.id, k, k, k, 'msg_' || md5(c.id::text || k), 'text', repeat('x', 200), 'usual-1', now()
    from ${named}, generate_series(1, ${messagesEach}::int) k`);
}

interface Part {
  projectId: string;
  count: number;
  /** Which of them, as `n`. */
  numbers: Sql;
}

async function start(count: number): Promise<Place> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const env = { DATABASE_URL: database.url ?? '', CHAT_MAX_ROOM_SUBSCRIPTIONS: '1000' };
  const stage = await startStage({ dataDir, env, conversations: 0, users: 0 });
  await fill(database, stage.project.id, count);
  const step = Math.max(1, Math.floor(count / asked));
  const numbers = Array.from({ length: Math.min(count, asked) }, (_, at) => 1 + at * step);
  return {
    stage,
    rooms: numbers.map((number) => `conv_${String(number).padStart(24, '0')}`),
    async stop() {
      await stage.child.stop();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

interface Times {
  p50Ms: number;
  p99Ms: number;
}

type Question = (place: Place, generator: Child) => Promise<Times>;

/** One caller who asks again and again. */
const asking =
  (what: (place: Place) => Pick<Load, 'paths'> & Partial<Load>): Question =>
  (place, generator) =>
    requestsPerSecond(generator, {
      port: place.stage.port,
      method: 'GET',
      headers: { authorization: `Bearer ${place.stage.key}` },
      connections: 1,
      ms: runMs,
      ...what(place),
    });

const inRooms = ({ rooms }: Place, rest = ''): string[] => rooms.map((room) => `/v1/chat/conversations/${room}${rest}`);

const questions: Record<string, Question> = {
  'list the newest 50': asking(() => ({ paths: ['/v1/chat/conversations?limit=50'] })),
  'what a user in ten has not read': asking(() => ({ paths: overviewOf('usual-7') })),
  'what a user in fifty has not read': asking(() => ({ paths: overviewOf('busy') })),
  'what a user in all has not read': asking(() => ({ paths: overviewOf('everywhere') })),
  'open one': asking((place) => ({ paths: inRooms(place) })),
  'history of one': asking((place) => ({ paths: inRooms(place, '/messages?limit=50') })),
  'send to one': asking((place) => ({
    method: 'POST',
    paths: inRooms(place, '/messages'),
    body: JSON.stringify({ text: 'x'.repeat(200), senderId: 'usual-1', clientMessageId: 'c%d' }),
  })),
  'subscribe to one': subscribing,
  'overview of the dashboard': asking(({ stage: { project } }) => ({
    paths: [`/v1/projects/${project.id}/chat/overview?environment=DEVELOPMENT`],
    headers: { authorization: `Bearer ${project.owner.accessToken}` },
  })),
};

const overviewOf = (userId: string): string[] => [`/v1/chat/users/${userId}/conversations?limit=50`];

/** One after the other on one socket, until the answer. */
async function subscribing({ stage, rooms }: Place): Promise<Times> {
  const [token = ''] = tokensOf(stage, ['everywhere']);
  const ws = new WebSocket(`${stage.url.replace(/^http/, 'ws')}/v1/chat/ws?token=${token}`);
  ws.on('error', () => undefined);
  const answered = (mark: string): Promise<void> =>
    new Promise((resolve) => {
      ws.on('message', function look(data: Buffer) {
        if (!data.includes(mark)) return;
        ws.off('message', look);
        resolve();
      });
    });
  await answered('"hello"');
  const times: number[] = [];
  for (const [at, ref] of rooms.slice(0, few).entries()) {
    const started = performance.now();
    const answer = answered(`"ref":"s${at}"`);
    ws.send(JSON.stringify({ type: 'subscribe', id: `s${at}`, conversations: [{ ref, presence: false }] }));
    await answer;
    times.push(performance.now() - started);
    ws.send(JSON.stringify({ type: 'unsubscribe', conversations: [ref] }));
  }
  ws.terminate();
  times.sort((a, b) => a - b);
  return { p50Ms: times[times.length >> 1] ?? 0, p99Ms: times[Math.floor(times.length * 0.99)] ?? 0 };
}

/** The same questions asked of a project with a hundred conversations and of one with a hundred thousand. */
export async function rows(): Promise<Row[]> {
  const places: Place[] = [];
  const generator = startChild('./http-load.ts');
  try {
    for (const count of [few, many]) places.push(await start(count));
    const [small, large] = places;
    if (!small || !large) throw new Error('a side is missing');
    const result: Row[] = [];
    for (const [name, ask] of Object.entries(questions)) {
      const [ofSmall, ofLarge]: [Times[], Times[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        ofSmall.push(await ask(small, generator));
        ofLarge.push(await ask(large, generator));
      }
      result.push(rowOf(name, best(ofSmall), best(ofLarge)));
    }
    return result;
  } finally {
    await generator.stop();
    for (const place of places) await place.stop();
  }
}

const best = (times: readonly Times[]): Times => ({
  p50Ms: Math.min(...times.map(({ p50Ms }) => p50Ms)),
  p99Ms: Math.min(...times.map(({ p99Ms }) => p99Ms)),
});

/** Of the questions that the capacity guide names. */
function figuresOf(name: string, large: Times, small: Times): Record<string, number> {
  const ratio = large.p50Ms / small.p50Ms;
  if (name === 'list the newest 50') return { listRatio: ratio };
  if (name === 'what a user in all has not read') return { unreadRatio: ratio };
  if (name === 'send to one') return { sendRatio: ratio };
  return name === 'overview of the dashboard' ? { overviewMs: large.p50Ms } : {};
}

function rowOf(name: string, small: Times, large: Times): Row {
  const both = ({ p50Ms, p99Ms }: Times): string => `p50 ${p50Ms.toFixed(2)}, p99 ${p99Ms.toFixed(2)} ms`;
  return {
    question: `${many.toLocaleString('en')} conversations / ${few}: ${name}`,
    floor: { atMost: 1.5 },
    ratio: large.p50Ms / small.p50Ms,
    figures: figuresOf(name, large, small),
    detail: `${both(large)} against ${both(small)}`,
  };
}
