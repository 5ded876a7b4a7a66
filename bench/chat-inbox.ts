import { rm } from 'node:fs/promises';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { adminUrl, redisUrl, type Stage, startStage, tokensOf } from './chat-stage.ts';
import { type Child, startChild } from './children.ts';
import { countCpu } from './cpu-usage.ts';
import type { InboxTimes } from './inbox-listeners.ts';
import { median, type Row } from './ratio.ts';

const members = 1_000;
const rounds = 3;
/** At an even rate, and as many at once as writers wait for. */
const paced = { messages: 30, everyMs: 100 };
const dense = { messages: 100, writers: 4 };

interface Run extends InboxTimes {
  seconds: number;
  /** Of server and database, for a message to everybody. */
  cpuMs: number;
}

const send = (stage: Stage): Promise<unknown> => {
  const metadata = { sentAt: performance.timeOrigin + performance.now() };
  const body = { text: 'x'.repeat(200), senderId: 'user-0', metadata };
  return stage.project.api.call('sendMessage', { room: stage.rooms[0] ?? '', body });
};

async function atEvenRate(stage: Stage): Promise<void> {
  const sent: Promise<unknown>[] = [];
  for (let at = 0; at < paced.messages; at++) {
    sent.push(send(stage));
    await new Promise((resolve) => setTimeout(resolve, paced.everyMs));
  }
  await Promise.all(sent);
}

async function atOnce(stage: Stage): Promise<void> {
  let left = dense.messages;
  const write = async (): Promise<void> => {
    while (left-- > 0) await send(stage);
  };
  await Promise.all(Array.from({ length: dense.writers }, write));
}

/** Both ways in turns, on the same sockets, so that a busy machine hits both alike. */
async function compare(listeners: Child, count: number, run: () => Promise<void>, cpu: () => Promise<Cpu>) {
  const [without, following]: [Run[], Run[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const [isFollowing, runs] of [
      [false, without],
      [true, following],
    ] as const) {
      await listeners.ask({ follow: isFollowing });
      await listeners.ask({ expect: count });
      const [spent, startedAt] = [await cpu(), performance.now()];
      await run();
      const times = await listeners.ask<InboxTimes>({ report: true });
      const seconds = (performance.now() - startedAt) / 1000;
      runs.push({ ...times, seconds, cpuMs: (await spent()) / count });
    }
  }
  return { without: middle(without), following: middle(following) };
}

type Cpu = () => Promise<number>;

const middle = (runs: readonly Run[]): Run => ({
  p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
  p99Ms: median(runs.map(({ p99Ms }) => p99Ms)),
  entries: median(runs.map(({ entries }) => entries)),
  seconds: median(runs.map(({ seconds }) => seconds)),
  cpuMs: median(runs.map(({ cpuMs }) => cpuMs)),
});

const shown = ({ p50Ms, p99Ms, cpuMs }: Run): string =>
  `p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms, ${cpuMs.toFixed(1)} ms of CPU a message`;

/** A message to a conversation of a thousand, whose members follow their inboxes too. */
export async function rows(): Promise<Row[]> {
  const database = await openTestDatabase({ url: adminUrl });
  const dataDir = await newDataDir();
  const env = { DATABASE_URL: database.url ?? '', REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `bench-${process.pid}:` };
  const stage = await startStage({ dataDir, env, conversations: 1, users: members });
  const listeners = startChild('./inbox-listeners.ts');
  try {
    const [room = ''] = stage.rooms;
    await listeners.ask({ open: { url: stage.url, tokens: tokensOf(stage, stage.users), room } });
    const cpu = () => countCpu([stage.child.process.pid ?? 0], env.DATABASE_URL);
    await listeners.ask({ expect: dense.messages });
    await atOnce(stage);
    await listeners.ask({ report: true });
    const even = await compare(listeners, paced.messages, () => atEvenRate(stage), cpu);
    const full = await compare(listeners, dense.messages, () => atOnce(stage), cpu);
    return [rowOfTimes(even), rowOfRates(full)];
  } finally {
    await listeners.stop();
    await stage.child.stop();
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Compared {
  without: Run;
  following: Run;
}

const rowOfTimes = ({ without, following }: Compared): Row => ({
  question: `A message every ${paced.everyMs} ms to ${members} members who follow their inboxes / who do not: until half of them have it (medians)`,
  floor: { atMost: 1.3 },
  ratio: following.p50Ms / without.p50Ms,
  detail: `${shown(following)}, ${following.entries} entries told, against ${shown(without)}`,
  bars: { unit: 'ms', sides: { following: following.p50Ms, without: without.p50Ms } },
});

const rowOfRates = ({ without, following }: Compared): Row => ({
  question: `${dense.messages} messages of ${dense.writers} writers to ${members} members who follow their inboxes / who do not: until everybody has all (medians)`,
  floor: { atMost: 1.3 },
  ratio: following.seconds / without.seconds,
  detail: `${following.seconds.toFixed(2)} s, ${following.cpuMs.toFixed(1)} ms of CPU a message, ${following.entries} entries told, against ${without.seconds.toFixed(2)} s, ${without.cpuMs.toFixed(1)} ms`,
  bars: { unit: 's', sides: { following: following.seconds, without: without.seconds } },
});
