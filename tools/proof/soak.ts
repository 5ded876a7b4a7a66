/**
 * Chat at 70 % of its peak for half an hour, with everything on that usually runs beside it: autovacuum, retention of
 * old messages and events, webhooks for every message.
 *
 *   node tools/proof/soak.ts [--minutes 30] [--share 0.7] [--old 200000]
 *
 * The p99 of the last sixth must be at most 1.3 times that of the first, and memory flat: the server's in the last sixth
 * at most 1.1 times what it had in the second. Makes a PostgreSQL of its own, of the installed programs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { WebSocket } from 'ws';
import { startOwnPostgres } from '../../apps/server/testkit/kit/own-postgres.ts';
import { newDataDir } from '../../apps/server/testkit/kit/process.ts';
import { startReceiver } from '../../apps/server/testkit/peers/receiver.ts';
import type { Watched } from '../../bench/chat-server.ts';
import { type Stage, startStage, tokensOf } from '../../bench/chat-stage.ts';
import { median, percentile } from '../../bench/ratio.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    share: { type: 'string', default: '0.7' },
    old: { type: 'string', default: '200000' },
  },
});
const [runMs, share, oldRows] = [Number(values.minutes) * 60_000, Number(values.share), Number(values.old)];
const [conversations, sockets, inFlight, peakMs] = [20, 10, 8, 10_000];
const text = 'x'.repeat(200);
const log = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`);

/** Messages and events that are past every retention, so that there is something to delete all the time. */
async function age(url: string, { project, rooms }: Stage): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into conversations (id, public_id, project_id, environment, name, type, epoch, last_seq, last_change,
       last_position, message_count, retention_days, last_message_at, created_at, updated_at)
     select gen_random_uuid(), 'conv_' || lpad(n::text, 24, '0'), $1, 'DEVELOPMENT', 'old-' || n, 'GROUP', 'e', 100, 100,
       100, 100, 7, now() - interval '30 days', now() - interval '60 days', now() from generate_series(1, $2::int / 100) n`,
    [project.id, oldRows],
  );
  await client.query(
    `insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, created_at)
     select c.id, k, k, k, 'msg_' || md5(c.id::text || k), 'text', $1, 'user-0', now() - interval '30 days'
     from conversations c, generate_series(1, 100) k where c.name like 'old-%'`,
    [text],
  );
  await client.query(
    `insert into events (id, project_id, environment, type, topic, data, created_at, dispatched_at)
     select 'evt_' || lpad(to_hex(g), 24, '0'), $1, 'DEVELOPMENT', 'message.created', 'chat/' || $2, '{"message":"' ||
       repeat('x', 420) || '"}', now() - interval '60 days', now() from generate_series(1, $3::int) g`,
    [project.id, rooms[0], oldRows],
  );
  await client.end();
}

interface Client {
  /** Sends to the next conversation; resolves with the milliseconds until it was stored. */
  send(): Promise<number>;
  close(): void;
}

async function connect({ port, rooms }: Stage, token: string, name: number): Promise<Client> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/v1/chat/ws?token=${token}`);
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
  const waiting = new Map<string, () => void>();
  ws.on('message', (data: Buffer) => {
    const head = data.toString('latin1', 0, 60);
    if (head.includes('"error"')) throw new Error(data.toString());
    if (!head.includes('"type":"ack"')) return;
    const { ref } = JSON.parse(data.toString()) as { ref: string };
    waiting.get(ref)?.();
    waiting.delete(ref);
  });
  ws.send(JSON.stringify({ type: 'subscribe', id: 's', conversations: rooms.map((ref) => ({ ref })) }));
  let sent = 0;
  return {
    send() {
      const [id, started] = [`${name}-${Date.now()}-${sent++}`, performance.now()];
      const conversation = rooms[(name + sent) % rooms.length];
      const { promise, resolve } = Promise.withResolvers<number>();
      waiting.set(id, () => resolve(performance.now() - started));
      ws.send(JSON.stringify({ type: 'message.send', id, conversation, text, clientMessageId: id }));
      return promise;
    },
    close: () => ws.terminate(),
  };
}

/** Messages a second with as many under way as each socket keeps. */
async function findPeak(clients: readonly Client[]): Promise<number> {
  const [until, started] = [performance.now() + peakMs, performance.now()];
  let stored = 0;
  const keepBusy = async (client: Client): Promise<void> => {
    while (performance.now() < until) {
      await client.send();
      stored++;
    }
  };
  await Promise.all(clients.flatMap((client) => Array.from({ length: inFlight }, () => keepBusy(client))));
  return (stored * 1_000) / (performance.now() - started);
}

interface Sixth {
  tookMs: number[];
  residentMiB: number;
}

/** An even rate that waits for no answer; what each sixth of the time had. */
async function run(stage: Stage, clients: readonly Client[], perSecond: number): Promise<Sixth[]> {
  const sixths: Sixth[] = [];
  const started = performance.now();
  let [sent, underWay] = [0, 0];
  while (performance.now() - started < runMs) {
    const sixth = Math.min(5, Math.floor(((performance.now() - started) / runMs) * 6));
    if (!sixths[sixth]) sixths[sixth] = { tookMs: [], residentMiB: await residentMiB(stage) };
    const own = sixths[sixth];
    for (const due = ((performance.now() - started) / 1_000) * perSecond; sent < due; sent++) {
      underWay++;
      clients[sent % clients.length]?.send().then((ms) => {
        underWay--;
        own.tookMs.push(ms);
      });
    }
    await sleep(1);
  }
  for (let waits = 0; underWay > 0 && waits < 300; waits++) await sleep(100);
  if (underWay > 0) throw new Error(`${underWay} messages were not answered`);
  const last = sixths.at(-1);
  if (last) last.residentMiB = Math.max(last.residentMiB, await residentMiB(stage));
  return sixths;
}

const residentMiB = async ({ child }: Stage): Promise<number> =>
  (await child.ask<Watched>({ order: 'watched' })).residentBytes / 2 ** 20;

async function left(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ old: string; vacuums: string }>(`
    select (select count(*) from events where created_at < now() - interval '30 days')
      + (select count(*) from messages where created_at < now() - interval '7 days') as old,
      (select sum(autovacuum_count) from pg_stat_user_tables) as vacuums`);
  await client.end();
  return `${rows[0]?.old} of ${oldRows * 2} old rows are left, autovacuum ran ${rows[0]?.vacuums} times`;
}

const postgres = await startOwnPostgres({ settings: { autovacuum_naptime: '5s' } });
const [receiver, dataDir] = [await startReceiver(), await newDataDir()];
const env = {
  DATABASE_URL: postgres.url,
  CHAT_SEND_RATE_LIMIT: '100000000',
  CHAT_MAX_ROOM_SUBSCRIPTIONS: '100',
  WEBHOOK_ALLOW_PRIVATE: 'true',
};
const stage = await startStage({ dataDir, env, conversations, users: sockets });
let isGood = false;
try {
  const { id: projectId, owner } = stage.project;
  const hook = { url: receiver.url, events: ['message.created' as const], environment: 'DEVELOPMENT' as const };
  await owner.api.call('createWebhook', { projectId, body: hook });
  await age(postgres.url, stage);
  const tokens = tokensOf(stage, stage.users);
  const clients = await Promise.all(tokens.map((token, at) => connect(stage, token, at)));
  await sleep(1_000);
  const peak = await findPeak(clients);
  log(`peak ${Math.round(peak)} messages a second; now ${Math.round(peak * share)} for ${values.minutes} minutes`);
  const sixths = await run(stage, clients, peak * share);
  for (const client of clients) client.close();
  for (const [at, { tookMs, residentMiB: memory }] of sixths.entries())
    log(
      `sixth ${at + 1}: ${tookMs.length} messages, p50 ${median(tookMs).toFixed(1)}, p99 ${percentile(tookMs, 0.99).toFixed(1)} ms, ${memory.toFixed(0)} MiB`,
    );
  const p99 = (at: number): number => percentile(sixths.at(at)?.tookMs ?? [], 0.99);
  const [later, grown] = [p99(-1) / p99(0), (sixths.at(-1)?.residentMiB ?? 0) / (sixths[1]?.residentMiB ?? 1)];
  log(`${receiver.requests.length} webhook requests; ${await left(postgres.url)}`);
  isGood = later <= 1.3 && grown <= 1.1;
  log(
    `${isGood ? 'ok  ' : 'FAIL'} p99 of the last sixth ${later.toFixed(2)} × the first, memory ${grown.toFixed(2)} ×`,
  );
} finally {
  await stage.child.stop();
  await receiver.close();
  await postgres.remove();
}
process.exit(isGood ? 0 : 1);
