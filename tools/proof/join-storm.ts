/**
 * Many join one room at once, one in ten of them with a microphone and a camera: what the server sends, what it costs,
 * first to clients that know rosters in pages and deltas, then to clients that do not. Light clients without media:
 * `node tools/proof/join-storm.ts [people] [at once]`.
 */
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import { forge, newSecret, rtc, rtcClaims } from '../../apps/server/testkit/clients/offline.ts';
import { nextAddress } from '../../apps/server/testkit/clients/signal-client.ts';
import { processCpuMs } from '../../apps/server/testkit/kit/cpu.ts';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { createPeople } from '../../apps/server/testkit/kit/people.ts';
import { startProcess } from '../../apps/server/testkit/kit/process.ts';
import { startProtocolNode } from '../../apps/server/testkit/peers/protocol-node.ts';

const [people = 500, atOnce = 20] = process.argv.slice(2).map(Number);
const publishes = (index: number): boolean => index % 10 === 0;
const secret = 'a-secret-of-this-proof-0123456789';
const server = await startProcess({
  TRUST_PROXY: '127.0.0.1',
  SFU_REGISTRATION_SECRET: secret,
});
const node = await startProtocolNode({ name: 'node-1', url: server.url, secret });
await node.register();
await node.heartbeat();
const beating = setInterval(() => void node.heartbeat().catch(() => {}), 5_000);
const project = await createPeople(server.url).newProject();
const signingKey = await newSecret(project);

interface Guest {
  ws: WebSocket;
  frames: number;
  bytes: number;
  largest: number;
  isIn: boolean;
  refusal: string | null;
}
let guests: Guest[] = [];
const types = new Map<string, number>();
const typeOf = (text: string): string => /"type":"([^"]+)"/.exec(text)?.[1] ?? '';

function newGuest(token: string, join: object): Guest {
  const headers = { 'x-forwarded-for': nextAddress() };
  const ws = new WebSocket(`${server.url}/v1/rtc/signal`, ['svc.rtc.v1', `bearer.${token}`], { headers });
  const guest: Guest = { ws, frames: 0, bytes: 0, largest: 0, isIn: false, refusal: null };
  ws.on('open', () => ws.send(JSON.stringify({ type: 'join', connectionId: randomUUID(), ...join, id: 'join' })));
  ws.on('message', (data: Buffer) => {
    guest.frames += 1;
    guest.bytes += data.length;
    guest.largest = Math.max(guest.largest, data.length);
    // As large as it may be: the beginning says what it is.
    const type = typeOf(data.toString('latin1', 0, 64));
    types.set(type, (types.get(type) ?? 0) + 1);
    guest.isIn ||= type === 'joined';
    if (type === 'error') console.error(String(data));
  });
  ws.on('error', () => undefined);
  ws.on('close', (code, reason) => {
    guest.refusal = `${code} ${reason}`;
  });
  return guest;
}

const pinging = setInterval(() => {
  for (const { ws } of guests) if (ws.readyState === WebSocket.OPEN) ws.send('{"type":"ping"}');
}, 10_000);

const publish = {
  type: 'publish',
  tracks: [
    { cid: 'mic', kind: 'AUDIO', source: 'MICROPHONE' },
    { cid: 'cam', kind: 'VIDEO', source: 'CAMERA' },
  ],
  description: { media: [] },
};

async function storm(join: object, count = people) {
  const room = await project.api.call('createRoom', {
    body: { name: `storm-${randomUUID()}`, maxParticipants: 1000 },
  });
  types.clear();
  guests = [];
  const queue = Array.from({ length: count }, (_, index) => index);
  const pid = server.child.pid ?? 0;
  const [cpuBefore, startedAt] = [(await processCpuMs(pid)) ?? 0, performance.now()];
  async function work(): Promise<void> {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      // On a busy machine a storm takes minutes.
      const exp = Math.floor(Date.now() / 1000) + 3600;
      const claims = rtcClaims(room.id, { sub: `guest-${index}`, exp, perm: { publish: true } });
      const guest = newGuest(forge(signingKey, rtc, claims), { autoSubscribe: false, ...join });
      guests.push(guest);
      await eventually(() => guest.isIn || guest.refusal !== null, { withinMs: 60_000, everyMs: 5 });
      if (publishes(index)) guest.ws.send(JSON.stringify(publish));
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  const tookMs = performance.now() - startedAt;
  // What is still on its way, deltas that wait for their time too.
  const total = (of: 'frames' | 'bytes') => guests.reduce((sum, guest) => sum + guest[of], 0);
  let before = -1;
  while (before !== total('frames')) {
    before = total('frames');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
  const cpuMs = ((await processCpuMs(pid)) ?? 0) - cpuBefore;
  const cut = guests.filter(({ refusal }) => refusal !== null);
  const result = {
    in: guests.length - cut.length,
    cut: [...new Set(cut.map(({ refusal }) => refusal))],
    frames: total('frames'),
    bytes: total('bytes'),
    lastJoin: { frames: guests.at(-1)?.frames ?? 0, bytes: guests.at(-1)?.bytes ?? 0 },
    largest: Math.max(...guests.map(({ largest }) => largest)),
    cpuMs,
    tookMs: Math.round(tookMs),
    types: Object.fromEntries([...types].sort((a, b) => b[1] - a[1]).slice(0, 7)),
  };
  for (const { ws } of guests) ws.terminate();
  await project.api.call('closeRoom', { id: room.id });
  return result;
}

// What is compiled on the way is paid before either.
await storm({}, 60);
await storm({ roster: true }, 60);
const paged = await storm({ roster: true });
console.log(`pages and deltas, ${people} people:`, paged);
const whole = await storm({});
console.log(`whole records, one frame an event, ${people} people:`, whole);
clearInterval(beating);
clearInterval(pinging);
await node.stop();
await server.kill('SIGTERM');
const share = (of: 'frames' | 'bytes' | 'cpuMs'): string => `${((100 * paged[of]) / whole[of]).toFixed(1)} %`;
console.log(`of the frames ${share('frames')}, of the bytes ${share('bytes')}, of the CPU ${share('cpuMs')}`);
process.exit(paged.in === people && paged.largest <= 16_384 ? 0 : 1);
