import { rm } from 'node:fs/promises';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { newDataDir } from '../apps/server/testkit/kit/process.ts';
import { type Stage, startStage } from './chat-stage.ts';
import { requestsPerSecond, startChild } from './children.ts';
import { bestOf, type Row, thousands } from './ratio.ts';

const connections = 32;
const runMs = 2_000;
/** More than the path carries: every request is kept, as far as the queue takes them. */
const everything = '100000';

/** The request path with the log of requests on, beside the same one with it off. */
export async function rows(): Promise<Row[]> {
  const generator = startChild('./http-load.ts');
  const folders: string[] = [];
  const stages: Stage[] = [];
  const start = async (perSecond: string): Promise<Stage> => {
    const dataDir = await newDataDir();
    folders.push(dataDir);
    const env = { OBSERVABILITY_REQUESTS_PER_SECOND: perSecond };
    const stage = await startStage({ dataDir, env, conversations: 1, users: 1 });
    stages.push(stage);
    return stage;
  };
  try {
    const [off, usual, all] = [await start('0'), await start('10'), await start(everything)];
    const ask = ({ port, key }: Stage, ms = runMs) =>
      requestsPerSecond(generator, {
        port,
        method: 'GET',
        paths: ['/v1/rooms?limit=1'],
        headers: { authorization: `Bearer ${key}` },
        connections,
        ms,
      });
    for (const stage of stages) await ask(stage);
    const sideOf = (stage: Stage) => async () => (await ask(stage)).perSecond;
    for (const stage of [usual, all]) await assertLogged(stage);
    const best = await bestOf({ off: sideOf(off), usual: sideOf(usual), all: sideOf(all) });
    return [
      rowOf('at its usual rate', best.usual, best.off, 0.9),
      rowOf('keeping all it can', best.all, best.off, 0.6),
    ];
  } finally {
    for (const { child } of stages) await child.stop();
    await generator.stop();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  }
}

/** What keeps nothing costs nothing. */
async function assertLogged({ project }: Stage): Promise<void> {
  const { route } = await eventually(async () => {
    const [last] = await project.owner.api.call('listProjectRequests', { projectId: project.id, query: { limit: 1 } });
    if (!last) throw new Error('nothing is in the log');
    return last;
  });
  if (route !== '/v1/rooms') throw new Error(`the last request in the log is ${route}`);
}

const rowOf = (how: string, on: number, off: number, atLeast: number): Row => ({
  question: `Requests a second with the request log ${how}, by those without it`,
  floor: { atLeast },
  ratio: on / off,
  detail: `${thousands(on)} by ${thousands(off)}, GET /v1/rooms over ${connections} connections, embedded`,
  bars: { unit: '/s', sides: { 'log on': on, 'log off': off } },
});
