import { about, paragraph, percent, type Say } from './capacity-text.ts';
import { figure } from './ratio.ts';

/** What the million is computed with, beside what was measured. */
export const million = 1_000_000;
const speakersShare = 0.1;
const listenersEach = 10;
/** The most of anything that should be in use: what is left is for a burst, a restart, a neighbour that is gone. */
const usable = 0.6;
/** Those of the benchmark whose Redis was measured; each heard every message. */
const measuredProcesses = 3;
const busyMessagesPerSecond = 20_000;

const idle = ['chat-idle/serverPercent', 'chat-idle/sockets'] as const;
const bus = ['chat-processes/storedRedisUs', 'chat-processes/heardRedisUs'] as const;
const ofProcess = [...idle, 'chat-processes/unheardCpuUs', 'chat-ejabberd/deliveryCpuUs'] as const;
const ofRedis = ['chat-idle/redisPercent', 'chat-idle/sockets', ...bus] as const;
const messagesPerSecond = (million * speakersShare) / 60;
const processesFor = (sockets: number): number => Math.ceil(million / sockets);
const idleCores = (percentOfCore: number, sockets: number): number => (million / sockets) * (percentOfCore / 100);
const deliveryCores = (us: number, messages = messagesPerSecond): number => (messages * listenersEach * us) / 1e6;

/** How many it takes so that none is above what is usable, and what each then has. */
interface Parts {
  count: number;
  share: number;
}

const partsOf = (cores: number): Parts => {
  const count = Math.max(1, Math.ceil(cores / usable));
  return { count, share: cores / count };
};

/** Messages that nobody hears cost every process the same, so more processes do not make that less. */
function processParts(share: number, sockets: number, unheardUs: number, us: number, messages: number): Parts {
  const own = (messages * unheardUs) / 1e6;
  const cores = idleCores(share, sockets) + deliveryCores(us, messages);
  const count = Math.max(processesFor(sockets), Math.ceil(cores / Math.max(0.01, usable - own)));
  return { count, share: cores / count + own };
}

/** A message to ten processes, by what one to nobody and one to three took. */
const busUs = (stored: number, heard: number): number =>
  stored + ((heard - stored) * listenersEach) / measuredProcesses;

const redisCores = (percentOfCore: number, sockets: number, stored: number, heard: number, messages: number): number =>
  idleCores(percentOfCore, sockets) + (messages * busUs(stored, heard)) / 1e6;

/** Cores of Redis by messages a second, for presence, the bus and limits; presence alone would be no answer. */
const sayRedis = (say: Say, write: (cores: (messages: number) => number) => string): string =>
  say(ofRedis, (share, sockets, stored, heard) =>
    write((messages) => redisCores(share, sockets, stored, heard, messages)),
  );

export function millionRows(say: Say): string[][] {
  const shared = (name: string): readonly [string, string] => [`chat-idle/${name}`, 'chat-idle/sockets'];
  const calculated = (share: number, sockets: number): string =>
    `${processesFor(sockets)} × ${figure(share)} % of a core`;
  const cores = (share: number, sockets: number): string => `${figure(idleCores(share, sockets))} cores`;
  return [
    [
      'Memory',
      say(['chat-idle/memoryKiB'], (kib) => `1,000,000 × ${figure(kib)} KiB`),
      say(['chat-idle/memoryKiB'], (kib) => `${figure((million * kib) / 2 ** 20)} GiB`),
      say(['chat-idle/memoryKiB'], (kib) => `${Math.ceil((million * kib) / 2 ** 20 / usable)} GiB`),
    ],
    ['Server CPU, idle', say(idle, calculated), say(idle, cores), ''],
    [
      'A tenth of them send a message every minute',
      say(
        ['chat-ejabberd/deliveryCpuUs'],
        (us) =>
          `100,000 / 60 s = ${figure(messagesPerSecond)} messages/s, ten deliveries each: ${figure(messagesPerSecond * listenersEach)} × ${figure(us)} µs`,
      ),
      say(['chat-ejabberd/deliveryCpuUs'], (us) => `${figure(deliveryCores(us))} cores, storing and database included`),
      '',
    ],
    [
      'Messages where nobody hears them',
      say(['chat-processes/unheardCpuUs'], (us) => `${figure(messagesPerSecond)} × ${figure(us)} µs in each process`),
      say(['chat-processes/unheardCpuUs'], (us) => `${percent((messagesPerSecond * us) / 1e6)} of a core in each`),
      '',
    ],
    [
      '**Server processes**',
      say(ofProcess, (_, sockets) => `1,000,000 / ${figure(sockets)} sockets each, and the three rows above`),
      say(ofProcess, (...values) => {
        const { count, share } = processParts(...values, messagesPerSecond);
        return `${figure(count * share)} cores`;
      }),
      say(ofProcess, (...values) => {
        const { count, share } = processParts(...values, messagesPerSecond);
        return `${count} processes, each at ${percent(share)} of a core`;
      }),
    ],
    [
      '**PostgreSQL**',
      say(
        [...shared('databasePercent'), 'chat-ejabberd/deliveryCpuUs'],
        (share, sockets) =>
          `${calculated(share, sockets)} while idle: each process polls every 1.5 s for missed changes; storing, at most all of what messages cost above`,
      ),
      say(
        [...shared('databasePercent'), 'chat-ejabberd/deliveryCpuUs'],
        (share, sockets, us) => `${figure(idleCores(share, sockets) + deliveryCores(us))} cores`,
      ),
      say(
        [...shared('databasePercent'), 'chat-ejabberd/deliveryCpuUs'],
        (share, sockets, us) => `${partsOf(idleCores(share, sockets) + deliveryCores(us)).count} cores of one server`,
      ),
    ],
    ['Redis, presence', say(shared('redisPercent'), calculated), say(shared('redisPercent'), cores), ''],
    [
      'Redis, bus and limits: ten listeners in ten processes',
      say(
        bus,
        (stored, heard) =>
          `${figure(messagesPerSecond)} × (${figure(stored)} + 10 × ${figure((heard - stored) / measuredProcesses)}) µs`,
      ),
      say(bus, (stored, heard) => `${figure((messagesPerSecond * busUs(stored, heard)) / 1e6)} cores`),
      '',
    ],
    [
      '**Redis servers** in `REDIS_URL`',
      sayRedis(say, () => 'the two rows above, spread by a hash of the conversation ([scale](scale.md))'),
      sayRedis(say, (cores) => `${figure(cores(messagesPerSecond))} cores`),
      sayRedis(say, (cores) => {
        const { count, share } = partsOf(cores(messagesPerSecond));
        return `${count}, each at ${percent(share)} of the one core it runs on`;
      }),
    ],
    [
      'All reconnect after an outage',
      say(['chat-reconnect/returnCpuMs'], (ms) => `1,000,000 × ${figure(ms)} ms`),
      say(
        ['chat-reconnect/returnCpuMs'],
        (ms) =>
          `${figure((million * ms) / 1000)} s of CPU: ${about((million * ms) / 64_000)} s on 64 cores, ${about((million * ms) / 8_000)} s on 8`,
      ),
      'all there is, for that long',
    ],
  ];
}

const unmeasuredBus =
  'What Redis needs is not known: presence was measured, what the bus and the limits cost with several processes was not (`chat-processes`).';

export function conclusion(say: Say): string {
  const size = say([...ofProcess, 'chat-idle/memoryKiB'], (share, sockets, unheardUs, us, kib) => {
    const parts = processParts(share, sockets, unheardUs, us, messagesPerSecond);
    const cores = parts.count * parts.share;
    return `So a million open sockets are ${parts.count} processes with ${Math.ceil((million * kib) / 2 ** 20)} GiB that keep ${figure(cores)} cores busy, which is ${Math.ceil(cores / usable)} cores at ${percent(usable)} with ${Math.floor(usable / parts.share)} processes a core, and one mid-sized PostgreSQL.`;
  });
  const redis = sayRedis(say, (coresOf) => {
    const cores = coresOf(messagesPerSecond);
    const { count, share } = partsOf(cores);
    if (count === 1) return `One Redis carries presence, bus and limits at ${percent(share)} of its core.`;
    return `One Redis would be at ${percent(cores)} of its core with presence, bus and limits, and is what breaks first: \`REDIS_URL\` names ${count} servers, each at ${percent(share)}; \`presence: false\`, where it is not shown, takes its part away.`;
  });
  const busy = say(ofProcess, (share, sockets, unheardUs, us) => {
    const parts = processParts(share, sockets, unheardUs, us, busyMessagesPerSecond);
    const processes = `${parts.count} processes at ${percent(parts.share)} each`;
    const servers = sayRedis(say, (cores) => {
      const { count, share: each } = partsOf(cores(busyMessagesPerSecond));
      return `${count} Redis servers at ${percent(each)} each`;
    });
    const rate = `At ${figure(busyMessagesPerSecond)} messages a second, with ten listeners in ten processes, it takes ${processes}`;
    return servers === ''
      ? `${rate}; what the bus then takes was not measured.`
      : `${rate} and ${servers}; what one PostgreSQL stores is then what to measure. What a message costs Redis was measured at the peak, where a turn publishes several at once: far from it each costs more.`;
  });
  // What the head of the table claims, where every part of it was measured.
  const storm = say(
    [...ofProcess, ...ofRedis, 'chat-reconnect/returnCpuMs'],
    () => 'Only while all reconnect is any part above 60 %: then they use all there is.',
  );
  return paragraph(size, redis === '' ? unmeasuredBus : redis, storm, busy);
}
