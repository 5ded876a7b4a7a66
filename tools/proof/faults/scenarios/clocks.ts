import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createPostgres } from '../../../../apps/server/src/adapters/db/postgres/postgres.ts';
import { sql } from '../../../../apps/server/src/core/sql.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { completeWithin, fact, keptWorking, mediaFlows, noExit, onlyStatuses, socketsStay } from '../invariants.ts';
import { always, core, type Scenario, type Scenarios } from '../scenario.ts';
import type { Scene } from '../scene.ts';

const preload = new URL('../../../../apps/server/testkit/kit/stepped-clock.ts', import.meta.url).href;
const tenMinutesMs = 600_000;
/** Longer than it takes to think a node (30 s) or a process (15 s) dead. */
const holdMs = 45_000;

/** Every process has a wall clock that can be set. */
function settableClocks() {
  let folder = '';
  const fileOf = (place: number): string => join(folder, `clock-${place}`);
  return {
    prepare() {
      folder = mkdtempSync(join(tmpdir(), 'parley-clocks-'));
      const envOf = (place: number) => ({ NODE_OPTIONS: `--import=${preload}`, STEPPED_CLOCK: fileOf(place) });
      return { options: { nodes: 2, envOf }, clear: () => rmSync(folder, { recursive: true, force: true }) };
    },
    /** Gives by how many seconds each of the processes finds its own clock off. */
    async set({ fleet, log }: Scene, places: readonly number[], offMs: number): Promise<number[]> {
      const shown = places.map((place) => `${fileOf(place)}.shown`);
      for (const [at, place] of places.entries()) {
        rmSync(shown[at] ?? '', { force: true });
        writeFileSync(fileOf(place), String(offMs));
        fleet.processes[place]?.child.kill('SIGUSR2');
      }
      const offs = await Promise.all(shown.map((file) => eventually(() => secondsOff(readFileSync(file, 'utf8')))));
      log(`clocks of ${places.join()} are off by ${offs.join(', ')} s`);
      return offs;
    },
  };
}

/** Between a reported time and this process's. */
function secondsOff(reported: string): number {
  const off = Math.round((Date.parse(reported) - Date.now()) / 1000);
  if (Number.isNaN(off)) throw new Error(`no time: ${reported}`);
  return off;
}

/** By how much what the processes do now is dated wrongly, at worst. */
async function datedOff({ fleet }: Scene): Promise<number> {
  const offs = await Promise.all(
    fleet.processes.map(async (_, place) => {
      const name = `dated-${place}-${performance.now()}`;
      return Math.abs(secondsOff((await fleet.api(place).call('createConversation', { body: { name } })).createdAt));
    }),
  );
  return Math.max(...offs);
}

/** Tokens that one process minted and another refused. */
async function refusedTokens({ fleet }: Scene): Promise<number> {
  let refused = 0;
  for (const from of fleet.processes.keys()) {
    const body = { userId: 'alice', conversations: [fleet.room] };
    const { token } = await fleet.api(from).call('mintChatToken', { body });
    for (const { url } of fleet.processes) {
      const path = `/v1/chat/conversations/${fleet.room}/messages?limit=1`;
      const { status } = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
      if (status !== 200) refused++;
    }
  }
  return refused;
}

/** Stays, connections and attempts that ended before they began. */
async function negativeDurations({ postgres }: Scene): Promise<number> {
  const db = createPostgres({ url: postgres.url });
  try {
    const [row] = await db.query<{ count: number }>(sql`
      select (select count(*) from participant_sessions where left_at < joined_at)
           + (select count(*) from chat_connections where disconnected_at < connected_at)
           + (select count(*) from connections where ended_at < started_at or connected_at < started_at)
           + (select count(*) from deliveries where delivered_at < created_at) as count`);
    return row?.count ?? -1;
  } finally {
    await db.close();
  }
}

const clocks = settableClocks();

function stepping(title: string, places: readonly number[], offMs: number): Scenario {
  return {
    title,
    prepare: clocks.prepare,
    async harm(scene, { scale }) {
      const { begin, end, measure } = scene;
      begin();
      const stepped = await clocks.set(scene, places, offMs);
      await pause(2_000);
      let refused = await refusedTokens(scene);
      let dated = await datedOff(scene);
      await pause(Math.max(1_000, holdMs * scale));
      refused += await refusedTokens(scene);
      dated = Math.max(dated, await datedOff(scene));
      const back = await clocks.set(scene, places, 0);
      await pause(2_000);
      refused += await refusedTokens(scene);
      dated = Math.max(dated, await datedOff(scene));
      await pause(Math.max(1_000, 10_000 * scale));
      end();
      measure('leastStepSeconds', Math.min(...stepped.map(Math.abs)));
      measure('leftSeconds', Math.max(...back.map(Math.abs)));
      measure('datedOffSeconds', dated);
      measure('refusedTokens', refused);
      measure('negativeDurations', await negativeDurations(scene));
    },
    invariants: {
      ...always,
      'no process ends': noExit,
      'open sockets stay': socketsStay,
      'media flows': mediaFlows(1_000),
      'sends, reads, mints and joins go on': keptWorking(core, 2_000),
      'nothing but 503 goes wrong': onlyStatuses(503),
      'the clocks were off indeed': fact('leastStepSeconds', tenMinutesMs / 1000 - 10, tenMinutesMs / 1000 + 10),
      'and right again': fact('leftSeconds', 0, 10),
      'what happens is dated by the right time': fact('datedOffSeconds', 0, 5),
      'tokens of one process are good at the others': fact('refusedTokens', 0, 0),
      'nothing ends before it began': fact('negativeDurations', 0, 0),
      'subscribers are complete within 5 s': completeWithin(5_000),
    },
  };
}

export const steps: Scenarios = {
  'clock-forward': stepping('The clock of one process jumps ten minutes ahead, and back', [0], tenMinutesMs),
  'clock-back': stepping('The clock of one process jumps ten minutes back, and ahead', [0], -tenMinutesMs),
  'clocks-forward': stepping('The clocks of all processes jump ten minutes ahead, and back', [0, 1, 2], tenMinutesMs),
};
