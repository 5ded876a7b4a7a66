import { rm } from 'node:fs/promises';
import type { Room } from '@parley/contract';
import { type Api, createApi } from '@parley/server';
import { joinRoom, type SignalClient } from '../apps/server/testkit/clients/signal-client.ts';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { createPeople, type TestProject } from '../apps/server/testkit/kit/people.ts';
import { type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';
import { type Bill, checkBilling, type Stay } from './billing-checker.ts';
import { type NodeProcess, startNodeProcess } from './node-process.ts';

interface BillingOptions {
  sessions: number;
  serverKills: number;
  nodeKills: number;
  /** Server processes; 1 on an embedded database. */
  processes: number;
  nodes: number;
  /** How long the whole script takes, without the end. */
  seconds: number;
  /** Of every server; the database and Redis among it. */
  env: Record<string, string>;
  secret: string;
  random: () => number;
  log?: (line: string) => void;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Real server and media processes, people who come and go by a script, kills, and what was metered in the end. */
export async function runBilling(options: BillingOptions): Promise<Bill> {
  const { log = () => {} } = options;
  const fleet = await startFleet(options);
  try {
    const people = createPeople(fleet.urlOf(0));
    const projects = [await people.newProject(), await people.newProject()];
    const perProject = Math.ceil(options.sessions / projects.length);
    const keyed = await Promise.all(projects.map((project) => rooms(fleet, project, perProject)));
    const stays: Stay[] = [];
    const seats = Array.from({ length: options.sessions }, (_, index) => index);
    log(`${options.sessions} sessions over ${options.seconds} s`);
    const scripts = seats.map((index) => {
      const of = keyed[index % keyed.length] as Keyed;
      return attend(fleet, of, index, options, stays);
    });
    await Promise.all([fleet.harm(options, log), ...scripts]);
    log(`everybody left: ${stays.length} stays`);
    const billed = await Promise.all(projects.map((project) => read(project, log)));
    return checkBilling(stays, billed, fleet.kills);
  } finally {
    await fleet.stop();
  }
}

type Fleet = Awaited<ReturnType<typeof startFleet>>;

async function startFleet({ processes, nodes, env, secret, random }: BillingOptions) {
  const shared = {
    ...env,
    SFU_REGISTRATION_SECRET: secret,
    TRUST_PROXY: '127.0.0.1',
    SIGNALING_MAX_CONNECTIONS_PER_WINDOW: '100000',
  };
  const servers: ServerProcess[] = [];
  for (let index = 0; index < processes; index++) servers.push(await startProcess(shared));
  const urlOf = (index: number): string => servers[index % servers.length]?.url ?? '';
  const media: NodeProcess[] = [];
  const kills: Bill['kills'] = [];
  for (let index = 0; index < nodes; index++)
    media.push(await startNodeProcess({ name: `node-${index}`, secret, controlUrl: urlOf(index) }));

  async function killServer(index: number): Promise<void> {
    const server = servers[index % servers.length] as ServerProcess;
    kills.push({ what: 'server', name: server.url, atMs: Date.now() });
    await server.kill();
    servers[index % servers.length] = await startProcess({
      ...shared,
      PORT: String(server.port),
      DATA_DIR: server.dataDir,
    });
  }

  async function killNode(index: number): Promise<void> {
    const node = media[index % nodes];
    if (!node) return;
    kills.push({ what: 'node', name: node.name, atMs: Date.now() });
    await node.kill();
    node.start();
  }

  return {
    urlOf,
    kills,
    /** Kills at moments of their own, spread over the script. */
    async harm({ serverKills, nodeKills, seconds }: BillingOptions, log: (line: string) => void): Promise<void> {
      const orders = [
        ...Array.from({ length: serverKills }, (_, index) => () => killServer(index)),
        ...Array.from({ length: nodeKills }, (_, index) => () => killNode(index)),
      ].sort(() => random() - 0.5);
      for (const [index, order] of orders.entries()) {
        await sleep((seconds * 1000 * (0.5 + random())) / (orders.length + 1));
        await order();
        log(`killed ${index + 1} of ${orders.length}: ${kills.at(-1)?.what} ${kills.at(-1)?.name}`);
      }
    },
    async stop(): Promise<void> {
      for (const node of media) await node.kill();
      for (const server of servers) {
        await server.kill();
        await rm(server.dataDir, { recursive: true, force: true });
      }
    },
  };
}

interface Keyed {
  apis: Api[];
  rooms: Room[];
}

const perRoom = 10;
const mintsPerKey = 50;

async function rooms(fleet: Fleet, project: TestProject, count: number): Promise<Keyed> {
  const apis: Api[] = [];
  for (let made = 0; made < count * 2; made += mintsPerKey)
    apis.push(createApi({ baseUrl: fleet.urlOf(0), credential: await project.newKey('DEVELOPMENT') }));
  const made: Room[] = [];
  for (let index = 0; index < Math.ceil(count / perRoom); index++)
    made.push(await project.api.call('createRoom', { body: { name: `room-${index}` } }));
  return { apis, rooms: made };
}

/** One person: comes at some time, stays for a while, and goes, is dropped, or is thrown out by a kill. */
async function attend(
  fleet: Fleet,
  { apis, rooms: places }: Keyed,
  index: number,
  { seconds, processes, random }: BillingOptions,
  stays: Stay[],
): Promise<void> {
  const [comesMs, staysMs] = [random() * seconds * 500, 1_000 + random() * seconds * 500];
  const [says, returns] = [random() < 0.6, random() < 0.5];
  const room = places[Math.floor(index / 2) % places.length] as Room;
  const api = apis[index % apis.length] as Api;
  await sleep(comesMs);
  const patience = { withinMs: 120_000, everyMs: 500 };
  const body = { participantIdentity: `person-${index}` };
  const { token } = await eventually(() => api.call('mintRtcToken', { roomId: room.id, body }), patience);
  let at = index % processes;
  let client = await eventually(() => joinRoom(fleet.urlOf(at), token), patience);
  const stay: Stay = {
    sessionId: client.joined.sessionId,
    node: client.joined.room.serverName ?? '',
    joinedMs: Date.now(),
    leftMs: 0,
    by: 'leave',
    servers: [fleet.urlOf(at)],
  };
  stays.push(stay);
  const endsMs = Date.now() + staysMs;
  for (;;) {
    const outcome = await wait(client, endsMs);
    if (outcome === 'time') {
      stay.leftMs = Date.now();
      stay.by = says ? 'leave' : 'drop';
      if (says) client.send({ type: 'leave' });
      else client.ws.terminate();
      return;
    }
    stay.leftMs = Date.now();
    stay.by = client.frames.some((frame) => frame.type === 'reconnect' && frame['reason'] === 'MEDIA_FAILURE')
      ? 'node'
      : 'server';
    if (stay.by === 'node' || !returns) return;
    at++;
    const next = await back(fleet.urlOf(at), token, client);
    if (!next) return;
    client = next;
    stay.servers.push(fleet.urlOf(at));
  }
}

/** Takes the session up again on another server, within the time it is kept. */
async function back(url: string, token: string, { joined, highestSeq }: SignalClient): Promise<SignalClient | null> {
  const resume = { sessionId: joined.sessionId, resumeToken: joined.resumeToken, lastSeq: highestSeq() };
  const client = await eventually(() => joinRoom(url, token, { resume }), { withinMs: 10_000, everyMs: 500 }).catch(
    () => null,
  );
  if (!client || client.joined.resumed) return client;
  // Too late: this is another stay, which nobody asked for.
  client.send({ type: 'leave' });
  return null;
}

async function wait(client: SignalClient, endsMs: number): Promise<'time' | 'closed'> {
  while (Date.now() < endsMs) {
    if (client.closed || client.ws.readyState !== client.ws.OPEN) return 'closed';
    client.send({ type: 'ping', t: 0 });
    await sleep(Math.min(500, Math.max(1, endsMs - Date.now())));
  }
  return client.closed ? 'closed' : 'time';
}

/** The usage of a project once every session has ended and was metered. */
async function read({ owner, id }: TestProject, log: (line: string) => void) {
  let told = '';
  return eventually(
    async () => {
      const { sessions, daily } = await owner.api.call('getProjectUsage', {
        projectId: id,
        query: { limit: 200, days: 2 },
      });
      const open = sessions.filter(({ endedAt }) => endedAt === null).length;
      const line = `${sessions.length} sessions, ${open} open`;
      if (line !== told) log(line);
      told = line;
      if (open > 0) throw new Error(`${open} sessions are still open`);
      return { sessions, daily };
    },
    { withinMs: 180_000, everyMs: 1_000 },
  );
}
