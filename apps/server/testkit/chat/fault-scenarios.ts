import type { Api } from '@parley/server';
import type { OwnRedis } from '../kit/redis.ts';
import type { ChatFleet } from './fleet.ts';
import { checkHistory, type LogEntry } from './history-checker.ts';
import {
  Follower,
  follow,
  operationOf,
  readForward,
  seeded,
  type WriteOptions,
  wholeHistory,
  wholeLog,
  writeAll,
} from './load.ts';

/** What a scenario found; it holds when `faults` is empty. */
export interface ScenarioResult {
  faults: string[];
  facts: Record<string, number>;
}

interface ScenarioOptions {
  fleet: ChatFleet;
  log?: (line: string) => void;
}

const progress = (log: ScenarioOptions['log'], every: number) => (count: number) => {
  if (count % every === 0) log?.(`${count} acknowledged`);
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function followersOf(fleet: ChatFleet, count: number): Promise<Follower[]> {
  const token = await fleet.tokenOf('alice');
  const followers = Array.from({ length: count }, (_, place) => new Follower(fleet, token, place));
  for (const follower of followers) await follower.connect();
  return followers;
}

/** Rounds of ten messages a writer until `finish`. */
export function keepWriting(
  fleet: ChatFleet,
  entries: LogEntry[],
  options: Pick<WriteOptions, 'writers' | 'pauseMs' | 'onAttempt'>,
) {
  const failing = new AbortController();
  let [isOver, round, retries] = [false, 0, 0];
  const done = (async () => {
    while (!isOver) {
      const more = { ...options, each: 10, prefix: `${round++}-`, signal: failing.signal };
      retries += (await writeAll(fleet, entries, more)).retries;
    }
  })();
  done.catch(() => undefined);
  return {
    async finish() {
      isOver = true;
      await done;
    },
    giveUp() {
      isOver = true;
      failing.abort();
    },
    facts: () => ({ acknowledged: entries.filter(({ is }) => is === 'ok').length, retries }),
  };
}

/** What is stored, and what all followers have received of it in the end. */
export async function gather(fleet: ChatFleet, followers: readonly Follower[]) {
  const history = await wholeHistory(fleet);
  const last = (await wholeLog(fleet)).at(-1)?.change ?? 0;
  const faults: string[] = [];
  for (const [place, follower] of followers.entries()) {
    await follower.reach(last).catch((error: unknown) => void faults.push(`follower ${place}: ${String(error)}`));
    faults.push(...follower.faults.map((fault) => `follower ${place} heard ${fault}`));
  }
  return { history, faults, sightings: followers.map((follower, place) => follower.sighting(`follower ${place}`)) };
}

/** Holds the log against the store and against all followers and readers. */
async function verify(
  fleet: ChatFleet,
  log: readonly LogEntry[],
  followers: readonly Follower[],
  readers: Parameters<typeof checkHistory>[2] = [],
): Promise<string[]> {
  const { history, faults, sightings } = await gather(fleet, followers);
  const findings = checkHistory(log, history, [...readers, ...sightings]);
  return [...faults, ...findings.slice(0, 20).map(({ rule, detail }) => `${rule}: ${detail}`)];
}

/** Many writers in one conversation over all processes, readers of every page size beside them. */
export async function runReadersScenario({
  fleet,
  writers,
  each,
  sizes,
  log,
}: ScenarioOptions & {
  writers: number;
  each: number;
  sizes: readonly (readonly [min: number, max: number])[];
}): Promise<ScenarioResult> {
  const entries: LogEntry[] = [];
  let isOver = false;
  const followers = await followersOf(fleet, 3);
  const following = follow(followers);
  const { latestCursor: from } = await fleet.api(0).call('listMessages', { room: fleet.room, query: { limit: 1 } });
  if (from === null) throw new Error('no cursor to begin with');
  const reading = sizes.map((range, place) => readForward(fleet, { from, sizes: range, place, isOver: () => isOver }));
  const started = performance.now();
  await writeAll(fleet, entries, { writers, each, onAcknowledged: progress(log, 2_000) });
  const seconds = (performance.now() - started) / 1000;
  isOver = true;
  log?.('written; the readers finish');
  const readers = await Promise.all(reading);
  await following.stop();
  const faults = await verify(fleet, entries, followers, readers);
  for (const follower of followers) follower.drop();
  const messages = writers * each;
  return { faults, facts: { messages, readers: readers.length, perSecond: Math.round(messages / seconds) } };
}

/** kill -9 of one process after the other under writes. */
export async function runKillsScenario({
  fleet,
  kills,
  writers,
  everyMs,
  seed,
  log,
}: ScenarioOptions & { kills: number; writers: number; everyMs: number; seed: number }): Promise<ScenarioResult> {
  const entries: LogEntry[] = [];
  const random = seeded(seed);
  const followers = await followersOf(fleet, 2);
  const following = follow(followers);
  const writing = keepWriting(fleet, entries, { writers, pauseMs: 5 });
  try {
    for (let kill = 1; kill <= kills; kill++) {
      await pause(everyMs / 2 + random(everyMs));
      await fleet.restart(random(fleet.processes.length));
      log?.(`kill ${kill} of ${kills}; ${entries.filter(({ is }) => is === 'ok').length} acknowledged`);
    }
    await writing.finish();
  } finally {
    writing.giveUp();
    await following.stop();
  }
  const faults = await verify(fleet, entries, followers);
  for (const follower of followers) follower.drop();
  const reconnects = followers.reduce((sum, follower) => sum + follower.reconnects, 0);
  return { faults, facts: { ...writing.facts(), kills, reconnects } };
}

/** Subscribers who leave and come back in every way while messages, edits, deletions and reactions go on. */
export async function runCyclesScenario({
  fleet,
  cycles,
  followers: count,
  seed,
  log,
}: ScenarioOptions & { cycles: number; followers: number; seed: number }): Promise<ScenarioResult> {
  const entries: LogEntry[] = [];
  const followers = await followersOf(fleet, count);
  let isOver = false;
  const traffic = changeEverything(fleet, entries, seed, () => isOver);
  const each = Math.ceil(cycles / count);
  let done = 0;
  await Promise.all(
    followers.map(async (follower, place) => {
      const random = seeded(seed + place + 1);
      for (let cycle = 0; cycle < each; cycle++) {
        await cycleOnce(follower, random(3));
        await pause(random(10));
        if (++done % 200 === 0) log?.(`${done} of ${each * count} cycles`);
      }
    }),
  );
  isOver = true;
  const operations = await traffic;
  const changes = await wholeLog(fleet);
  const faults = await verify(fleet, entries, followers);
  faults.push(...checkOperations(operations, changes.map(operationOf)));
  const labelOf = (one: (typeof changes)[number]): string => `${one.change} ${operationOf(one)}`;
  const stored = changes.map(labelOf);
  for (const [place, follower] of followers.entries()) {
    const heard = [...follower.changes.values()].sort((a, b) => a.change - b.change).map(labelOf);
    const wrong = stored.filter((change, at) => heard[at] !== change);
    if (wrong.length > 0 || heard.length > stored.length)
      faults.push(
        `follower ${place} heard ${heard.length} changes of ${stored.length}, ${wrong.length} of them otherwise`,
      );
    follower.drop();
  }
  return { faults, facts: { cycles: each * count, changes: changes.length, ...talliesOf(operations) } };
}

const kinds = ['message', 'message.updated', 'message.deleted', 'reaction.added', 'reaction.removed'];

const talliesOf = (operations: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    kinds.map((kind) => [kind, operations.filter((operation) => operation.startsWith(`${kind} `)).length]),
  );

/** Every acknowledged operation is one change and there is no other; each kind was done at all. */
function checkOperations(operations: readonly string[], stored: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const operation of operations) left.set(operation, (left.get(operation) ?? 0) + 1);
  for (const operation of stored) left.set(operation, (left.get(operation) ?? 0) - 1);
  const wrong = [...left].filter(([, count]) => count !== 0);
  return [
    ...Object.entries(talliesOf(operations)).flatMap(([kind, count]) =>
      count === 0 ? [`nothing was done as ${kind}`] : [],
    ),
    ...wrong
      .slice(0, 20)
      .map(([operation, count]) => `${operation} is ${count > 0 ? 'acknowledged and no change' : 'a change too many'}`),
  ];
}

async function cycleOnce(follower: Follower, kind: number): Promise<void> {
  if (kind === 0 || !follower.isConnected) return follower.connect();
  await follower.unsubscribe();
  // A turn without a subscription: what happens in it must be recovered.
  if (kind === 1) await pause(2);
  await follower.subscribe();
}

/** Messages, each with a fate of its own: left alone, edited, reacted to, deleted, reacted to no more. Gives what was done. */
async function changeEverything(
  fleet: ChatFleet,
  entries: LogEntry[],
  seed: number,
  isOver: () => boolean,
): Promise<string[]> {
  const operations: string[] = [];
  const one = async (writer: number): Promise<void> => {
    const random = seeded(seed * 31 + writer);
    // Every fate is met, however soon it is over.
    for (let place = 0; place < fatesCount || !isOver(); place++) {
      const key = `c${writer}/${place}`;
      const api = fleet.api(writer + place);
      entries.push({ is: 'invoke', key });
      const body = { text: key, senderId: `w${writer}`, clientMessageId: key };
      const { id: messageId, seq, change } = await api.call('sendMessage', { room: fleet.room, body });
      entries.push({ is: 'ok', key, seq, change });
      operations.push(operationOf({ type: 'message', change, messageId }));
      const fates = fatesOf(fleet.api(writer + place + 1), messageId, `w${writer}`);
      for (const { type, call } of fates[(writer + place) % fatesCount] ?? []) {
        await call();
        operations.push(operationOf({ type, change, messageId }));
      }
      await pause(random(8));
    }
  };
  await Promise.all(Array.from({ length: 4 }, (_, writer) => one(writer)));
  return operations;
}

const fatesCount = 5;

/** What may become of a message, by the process after the one that took it. */
function fatesOf(api: Api, messageId: string, userId: string): { type: string; call(): Promise<unknown> }[][] {
  const reaction = { emoji: '👍', userId };
  const edit = {
    type: 'message.updated',
    call: () => api.call('editMessage', { messageId, body: { text: 'another text' } }),
  };
  const remove = { type: 'message.deleted', call: () => api.call('deleteMessage', { messageId }) };
  const react = { type: 'reaction.added', call: () => api.call('addReaction', { messageId, body: reaction }) };
  const unreact = {
    type: 'reaction.removed',
    call: () => api.call('removeReaction', { messageId, emoji: reaction.emoji, query: { userId } }),
  };
  return [[], [edit], [react], [remove], [react, unreact]];
}

/** Redis gone for a while: sends go on, and followers are complete soon after its return. */
export async function runOutageScenario({
  fleet,
  redis,
  outageMs,
  writers,
  log,
}: ScenarioOptions & {
  redis: Pick<OwnRedis, 'kill' | 'start'>;
  outageMs: number;
  writers: number;
}): Promise<ScenarioResult> {
  const entries: LogEntry[] = [];
  const followers = await followersOf(fleet, fleet.processes.length * 2);
  const following = follow(followers);
  const writing = keepWriting(fleet, entries, { writers, pauseMs: 10 });
  const acknowledged = (): number => entries.filter(({ is }) => is === 'ok').length;
  let [during, completeMs] = [0, 0];
  try {
    await pause(1_000);
    const before = acknowledged();
    log?.('Redis stops');
    await redis.kill();
    await pause(outageMs);
    during = acknowledged() - before;
    await redis.start();
    const returned = performance.now();
    log?.(`Redis is back; ${during} sends succeeded without it`);
    const due = Math.max(...entries.flatMap((entry) => (entry.is === 'ok' ? [entry.change] : [])));
    await Promise.all(followers.map((follower) => follower.reach(due)));
    completeMs = Math.round(performance.now() - returned);
    await writing.finish();
  } finally {
    writing.giveUp();
    await following.stop();
  }
  const { retries } = writing.facts();
  const faults = await verify(fleet, entries, followers);
  if (retries > 0) faults.push(`${retries} sends failed`);
  if (during === 0) faults.push('nothing was sent during the outage');
  for (const follower of followers) follower.drop();
  return {
    faults,
    facts: { during, retries, completeMs, reconnects: Math.max(...followers.map((f) => f.reconnects)) },
  };
}
