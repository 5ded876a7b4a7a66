import { figure, isRow } from './ratio.ts';
import type { Result } from './results.ts';

type ReadResult = (name: string) => Result | null;

/** What the million is computed with, beside what was measured. */
const million = 1_000_000;
const speakersShare = 0.1;
const listenersEach = 10;
/** The most of a core that should be in use. */
const usable = 0.7;
const busyMessagesPerSecond = 20_000;

/** The capacity guide: every figure is from a file of results, with the arithmetic shown. */
export function capacityPage(read: ReadResult): string {
  const say = sayerOf(read);
  return `<!-- Generated from docs/benchmarks/results by tools/generate.ts. Do not edit. -->

# Capacity

What one core carries, how that grows with processes and nodes, what breaks first, and a million connections on paper.

Every figure is taken from the benchmarks' results in \`docs/benchmarks\` when this page is made, and names the benchmark it is from: \`npm run bench -- <name>\` gives you yours. They were run on ${machinesText(read)}, with PostgreSQL, Redis and the load generator beside the service, so take rates as lower bounds; costs are CPU time, which is more portable.

## What one core carries

${table(['What', 'Cost', 'So one core carries', 'Benchmark'], coreRows(say))}
The cost of a viewer of a live stream is measured by \`node tools/proof/stream-audience.ts\`.

What does not grow:

${unchanging(say).join('\n')}

${besideEjabberd(say)}

## More processes

Server processes are equal, behind a plain TCP balancer (haproxy in the benchmark). On a machine whose cores are busy already more processes gain little, since the messages of an event-loop turn are stored, published and flushed together, and three processes batch less in a turn: ${say(
    ['chat-processes/gain', 'chat-processes/gainHeard'],
    (gain, heard) =>
      `three instead of one stored ${figure(gain)} times as many messages, and ${figure(heard)} times as many with ten listeners to each (\`chat-processes\`)`,
  )}. Aim for one process a core, on dedicated cores; give the database its own machine.

A process hears a conversation only while somebody there listens (ADR 167). A message that nobody in a process hears costs it ${say(
    ['chat-processes/unheardCpuUs'],
    (us) => `at most ${figure(us)} µs`,
  )}.

Numbers of a conversation are assigned under the lock of its row, which makes them dense. A batch of one process takes it once; processes that store in the same conversation wait for each other there (\`chat-hot\`). Conversations do not wait for one another.

## More nodes

A media node adds its cores to the fleet; rooms do not share anything. A room begins in one process of one node and, when that is busy (\`SFU_ROOM_SPREAD_PERCENT\`), goes on in others of the same node, and when those are busy too, on the next node of the region, where nodes have pipes (\`SFU_PIPE_PORT\`): 50 participants who all send and all see 25 others are 1,250 streams, ${say(
    ['sfu-forwarding/streamCpuMs'],
    (ms) => `which at full rate are 1,250 × ${figure(ms)} ms = ${figure((1_250 * ms) / 1000)} cores`,
  )}; simulcast, pausing unwatched tracks and small layers make it less. A room has 50 places, and up to 1,000 if it asks for them ([limits](limits.md)).

${beside16Cores(say)}
## What breaks first

${table(['With more of', 'First bottleneck', 'Sign', 'What to do'], firstToBreak(say))}
## A million connections, on paper

Idle chat sockets, each in one conversation of ten with presence, from the figures above:

${table(['Part', 'Calculation', 'Needs'], millionRows(say))}
${conclusion(say)}

None of this has been run: ${say(['chat-idle/sockets', 'chat-reconnect/returned'], (open, back) => `the largest runs are ${figure(open)} open and ${figure(back)} returning sockets on one process`)}. The calculation leaves out the network (a million sockets' heartbeats are ${figure(million / 15)} small packets a second each way), TLS at the balancer, and the kernel's own memory for sockets, some gigabytes.
`;
}

type Say = ReturnType<typeof sayerOf>;

/** Writes with figures, each named as `benchmark/figure`; says so where one of them was not run. */
function sayerOf(read: ReadResult) {
  return <const K extends readonly string[]>(
    keys: K,
    write: (...values: { [I in keyof K]: number }) => string,
  ): string => {
    const values = keys.map((key) => figureOf(read, key));
    const missing = keys.filter((_, index) => values[index] === null).map((key) => key.split('/')[0]);
    if (missing.length > 0) return `not run (${[...new Set(missing)].map((name) => `\`${name}\``).join(', ')})`;
    return write(...(values as { [I in keyof K]: number }));
  };
}

function figureOf(read: ReadResult, key: string): number | null {
  const [name = '', wanted = ''] = key.split('/');
  const rows = read(name)?.rows.filter(isRow) ?? [];
  return rows.map(({ figures }) => figures?.[wanted]).find((value) => value !== undefined) ?? null;
}

const benchmarks = [
  'chat-ejabberd',
  'chat-idle',
  'chat-processes',
  'chat-reconnect',
  'sfu-forwarding',
  'sfu-pipes',
  'webhook-delivery',
];

function machinesText(read: ReadResult): string {
  const machines = benchmarks.flatMap((name) => read(name)?.machine ?? []);
  const texts = machines.map(({ cores, cpu, memoryGiB }) => `${cores} cores (${cpu}) and ${memoryGiB} GiB`);
  return [...new Set(texts)].join(', or ');
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `${[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;

const percent = (share: number): string => `${figure(share * 100)} %`;
/** Two digits: more would suggest a precision that is not there. */
const about = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en');
const perSecond = (us: number): string => `1 s / ${figure(us)} µs = ${about(1e6 / us)} a second`;

function coreRows(say: Say): string[][] {
  const cpu = (what: string, benchmark: string, name: string): string[] => {
    const key = [`${benchmark}/${name}`] as const;
    return [what, say(key, (us) => `${figure(us)} µs`), say(key, perSecond), `\`${benchmark}\``];
  };
  const packets = (subscribers: number): string[] => {
    const key = [`sfu-forwarding/packetsPerCpuSecond${subscribers}`] as const;
    return [
      `A packet out of a media process, ${subscribers} subscribers`,
      say(key, (rate) => `${figure(1e6 / rate)} µs`),
      say(key, (rate) => `${figure(rate)} a second`),
      '`sfu-forwarding`',
    ];
  };
  return [
    cpu('A chat message stored, database included', 'chat-processes', 'storedCpuUs'),
    cpu('A message delivered to one of ten listeners, storing and database included', 'chat-ejabberd', 'deliveryCpuUs'),
    [
      'The newest 50 messages of 100,000',
      say(['chat-ejabberd/pageMs'], (ms) => `${figure(ms)} ms over HTTP`),
      '',
      '`chat-ejabberd`',
    ],
    [
      'A chat socket that is open: heartbeat and presence every 15 s',
      say(
        ['chat-idle/serverPercent', 'chat-idle/sockets', 'chat-idle/memoryKiB'],
        (share, sockets, kib) =>
          `${figure(share)} % of a core for ${figure(sockets)}, so ${figure((share * 1e4) / sockets)} µs a second; ${figure(kib)} KiB resident`,
      ),
      say(
        ['chat-idle/serverPercent', 'chat-idle/sockets'],
        (share, sockets) => `${about((sockets * 100) / share)} by CPU; memory comes first`,
      ),
      '`chat-idle`',
    ],
    [
      'A socket that reconnects and recovers, presence published to 20',
      say(['chat-reconnect/returnCpuMs'], (ms) => `${figure(ms)} ms`),
      say(['chat-reconnect/returnCpuMs'], (ms) => perSecond(ms * 1000)),
      '`chat-reconnect`',
    ],
    cpu('A message without a subscriber in the process', 'chat-processes', 'unheardCpuUs'),
    [
      'A webhook delivery at 1,000 events/s',
      say(
        ['webhook-delivery/delayP50Ms', 'webhook-delivery/delayP95Ms'],
        (p50, p95) => `from event to receiver p50 ${figure(p50)} ms, p95 ${figure(p95)} ms`,
      ),
      '',
      '`webhook-delivery`',
    ],
    [
      'A video stream of 100 packets/s forwarded, 50 in the room',
      say(['sfu-forwarding/streamCpuMs'], (ms) => `${figure(ms)} ms a second`),
      say(['sfu-forwarding/streamCpuMs'], (ms) => `1 s / ${figure(ms)} ms = ${about(1000 / ms)} streams`),
      '`sfu-forwarding`',
    ],
    packets(25),
    packets(75),
    [
      'A participant of a room',
      say(['sfu-forwarding/participantKiB'], (kib) => `${figure(kib)} KiB`),
      '',
      '`sfu-forwarding`',
    ],
  ];
}

function unchanging(say: Say): string[] {
  const beside = ['listRatio', 'unreadRatio', 'sendRatio'].map((name) => `chat-conversations/${name}`);
  return [
    `- In a project with 100,000 conversations beside one with 100 (\`chat-conversations\`): ${say(beside, (list, unread, send) => `listing takes ${figure(list ?? 0)} times as long, what a user in all of them has not read ${figure(unread ?? 0)}, sending ${figure(send ?? 0)}`)}.`,
    `- The last page of a million messages beside the first (\`chat-history\`): ${say(['chat-history/lastPageRatio'], (ratio) => `${figure(ratio)} times the time`)}.`,
    `- One stalled reader of a thousand (\`stalled-socket\`): ${say(['stalled-socket/stalledRatio'], (ratio) => `the others' p99 is ${figure(ratio)} times what it is without`)}.`,
  ];
}

const besideEjabberd = (say: Say): string =>
  `Beside ejabberd on the same PostgreSQL, same machine, in turns (\`chat-ejabberd\`): ${say(
    [
      'chat-ejabberd/storedPerSecond',
      'chat-ejabberd/peerStoredPerSecond',
      'chat-ejabberd/deliveryCpuUs',
      'chat-ejabberd/peerDeliveryCpuUs',
      'chat-ejabberd/pageMs',
      'chat-ejabberd/peerPageMs',
    ],
    (stored, peerStored, cpu, peerCpu, page, peerPage) =>
      `${figure(stored / peerStored)} times the stored group messages (${figure(stored)} against ${figure(peerStored)} a second, ten listening to each), ${figure(cpu / peerCpu)} of the CPU for a delivery (${figure(cpu)} against ${figure(peerCpu)} µs, database included), the newest 50 of 100,000 messages in ${figure(page)} ms against ${figure(peerPage)} ms`,
  )}.`;

/** What LiveKit's benchmark page says of one room on a c2-standard-16: https://docs.livekit.io/home/self-hosting/benchmark/ */
const liveKitRooms = [
  { what: 'One publishes video, 3,000 watch', packetsIn: 246, packetsOut: 560_962, piped: 187, percent: 92 },
  { what: '150 publish video, 150 watch all', packetsIn: 51_068, packetsOut: 762_749, piped: 5_085, percent: 85 },
  { what: '10 speak, 3,000 listen', packetsIn: 305, packetsOut: 959_156, piped: 320, percent: 80 },
] as const;
const roomCores = 16;

function beside16Cores(say: Say): string {
  const keys = ['sfu-forwarding/packetsPerCpuSecond75', 'sfu-pipes/pipePacketMicros'] as const;
  const rows = liveKitRooms.map(({ what, packetsIn, packetsOut, piped, percent: theirs }) => [
    what,
    `${figure(packetsIn)} / ${figure(packetsOut)}`,
    `${theirs} %`,
    say(keys, (rate, pipeUs) => {
      const cores = (packetsIn + packetsOut) / rate + (piped * (roomCores - 1) * pipeUs) / 1e6;
      return `${figure((packetsIn + packetsOut) / 1e6)} M × ${figure(1e6 / rate)} µs + ${figure(piped)} × ${roomCores - 1} × ${figure(pipeUs)} µs = ${figure(cores)} cores, ${figure((cores * 100) / roomCores)} %`;
    }),
  ]);
  return `### One room on 16 cores, on paper

LiveKit's [benchmark page](https://docs.livekit.io/home/self-hosting/benchmark/) measures one room on 16 cores (c2-standard-16), the most that a room of theirs can have. The same packets a second, by what a packet of 1,100 bytes costs us (\`sfu-forwarding\`), each that comes in counted as one that goes out, and each that is watched piped once to ${roomCores - 1} other processes (\`sfu-pipes\`):

${table(['Room', 'Packets in / out a second', 'LiveKit, measured', 'Ours, calculated'], rows)}
Their cores are not those that ours was measured on, and ours has not been run at this size, so read it as an order of magnitude: on a busy machine of two cores, which had the subscribers as well, a packet cost ${say(['sfu-pipes/pipedPacketMicros', 'sfu-pipes/packetMicros'], (two, one) => `${figure(two / one)} times as much in two processes as in one`)}, with a pipe or without. Packets of sound are small and cost less than reckoned; of ten open microphones in a large room at most six are forwarded. Beyond 16 cores our room goes on at the next node, where a packet over a pipe costs ${say(['sfu-pipes/nodePipePacketMicros'], (us) => `${figure(us)} µs`)}, encrypted. A room has at most 1,000 places; larger audiences are those of live streams.
`;
}

function firstToBreak(say: Say): string[][] {
  return [
    [
      'Messages a second',
      'PostgreSQL: one commit a batch, the row of a busy conversation',
      'POST p99, `parley_event_loop_delay_p99_seconds` stays low',
      'a larger database; a hot conversation through one process',
    ],
    [
      'Deliveries a second',
      'CPU of the server processes that hold the sockets',
      'loop delay above 0.1 s',
      'more processes on more cores',
    ],
    [
      'Open sockets',
      `memory (${say(['chat-idle/memoryKiB'], (kib) => `${figure(kib)} KiB each`)}), then file descriptors (\`LimitNOFILE\`) and ports of the balancer (28,000 for each address and server)`,
      'refused connections',
      'more processes; more addresses on the balancer',
    ],
    [
      'Sockets that connect at once',
      'the accept queue, `net.core.somaxconn`',
      '`nstat TcpExtListenOverflows`',
      'raise it; clients of a draining server reconnect spread over 5 s',
    ],
    [
      'Presence',
      'Redis: a command for all conversations of a process whose turn it is, every 15 s for each; and quadratic in the size of a conversation',
      'Redis above 70 % of its core',
      'several Redis servers or a cluster in `REDIS_URL`; `presence: false` where it is not shown',
    ],
    [
      'Processes that listen to one conversation',
      'the bus: each of them receives its messages once',
      'Redis output',
      'several Redis servers or a cluster in `REDIS_URL`; fewer, larger processes',
    ],
    [
      'Messages in a week',
      `the dashboard's overview, which counts them: ${say(['chat-conversations/overviewMs'], (ms) => `${figure(ms)} ms for 500,000 (\`chat-conversations\`)`)}, then cached for 20 times as long, at most half a minute`,
      'slow overview',
      'nothing: only its viewers wait',
    ],
  ];
}

const idle = ['chat-idle/serverPercent', 'chat-idle/sockets'] as const;
const messagesPerSecond = (million * speakersShare) / 60;
const processesFor = (sockets: number): number => Math.ceil(million / sockets);
const idleCores = (percentOfCore: number, sockets: number): number => (processesFor(sockets) * percentOfCore) / 100;
const deliveryCores = (us: number): number => (messagesPerSecond * listenersEach * us) / 1e6;

function millionRows(say: Say): string[][] {
  const shared = (name: string): readonly [string, string] => [`chat-idle/${name}`, 'chat-idle/sockets'];
  const calculated = (share: number, sockets: number): string =>
    `${processesFor(sockets)} × ${figure(share)} % of a core`;
  const cores = (share: number, sockets: number): string => `${figure(idleCores(share, sockets))} cores`;
  return [
    [
      'Memory',
      say(['chat-idle/memoryKiB'], (kib) => `1,000,000 × ${figure(kib)} KiB`),
      say(['chat-idle/memoryKiB'], (kib) => `${figure((million * kib) / 2 ** 20)} GiB`),
    ],
    [
      'Processes',
      say(['chat-idle/sockets'], (sockets) => `1,000,000 / ${figure(sockets)} sockets each`),
      say(
        idle,
        (share, sockets) =>
          `${processesFor(sockets)}, of which ${Math.floor((usable * 100) / share)} share a core while idle`,
      ),
    ],
    ['Server CPU, idle', say(idle, calculated), say(idle, cores)],
    [
      'PostgreSQL, idle',
      `${say(shared('databasePercent'), calculated)}: each process polls every 1.5 s for missed changes`,
      say(shared('databasePercent'), cores),
    ],
    [
      'Redis, idle',
      say(shared('redisPercent'), calculated),
      `${say(shared('redisPercent'), cores)}, of which Redis has one`,
    ],
    [
      'A tenth of them send a message every minute',
      say(
        ['chat-ejabberd/deliveryCpuUs'],
        (us) =>
          `100,000 / 60 s = ${figure(messagesPerSecond)} messages/s, ten deliveries each: ${figure(messagesPerSecond * listenersEach)} × ${figure(us)} µs`,
      ),
      say(['chat-ejabberd/deliveryCpuUs'], (us) => `${figure(deliveryCores(us))} cores, storing and database included`),
    ],
    [
      'Processes where nobody hears it',
      say(
        ['chat-processes/unheardCpuUs', 'chat-idle/sockets'],
        (us, sockets) =>
          `${figure(messagesPerSecond)} × ${figure(us)} µs in each of ${processesFor(sockets)} processes`,
      ),
      say(
        ['chat-processes/unheardCpuUs', 'chat-idle/sockets'],
        (us, sockets) =>
          `${percent((messagesPerSecond * us) / 1e6)} of a core in each, ${figure((processesFor(sockets) * messagesPerSecond * us) / 1e6)} cores in all`,
      ),
    ],
    [
      'All reconnect after an outage',
      say(['chat-reconnect/returnCpuMs'], (ms) => `1,000,000 × ${figure(ms)} ms`),
      say(
        ['chat-reconnect/returnCpuMs'],
        (ms) =>
          `${figure((million * ms) / 1000)} s of CPU: ${about((million * ms) / 64_000)} s on 64 cores, ${about((million * ms) / 8_000)} s on 8`,
      ),
    ],
  ];
}

function conclusion(say: Say): string {
  const size = say([...idle, 'chat-idle/memoryKiB', 'chat-ejabberd/deliveryCpuUs'], (share, sockets, kib, us) => {
    const busy = idleCores(share, sockets) + deliveryCores(us);
    return `So a million open sockets are ${processesFor(sockets)} processes with ${Math.ceil((million * kib) / 2 ** 20)} GiB that keep ${figure(busy)} cores busy, which is ${Math.ceil(busy / usable)} cores at ${usable * 100} %, without the cost of the bus, and one mid-sized PostgreSQL.`;
  });
  const redis = say(['chat-idle/redisPercent', 'chat-idle/sockets'], (share, sockets) => {
    const cores = idleCores(share, sockets);
    if (cores <= 1) return `Redis needs ${figure(cores)} of the one core it runs on.`;
    return `**Redis is what breaks first**: presence alone needs ${figure(cores)} times the one core it runs on. About ${about(million / cores)} subscriptions with presence fit one Redis; for the million \`REDIS_URL\` names ${Math.ceil(cores / usable)} servers, over which presence and bus are spread, or \`presence: false\` where it is not shown.`;
  });
  const bus = say(
    ['chat-idle/sockets'],
    (sockets) =>
      `with ten listeners in ten of ${processesFor(sockets)} processes, ${figure(busyMessagesPerSecond)} messages a second are ${figure(busyMessagesPerSecond * listenersEach)} deliveries by Redis; a second server halves them`,
  );
  return [size, redis, `The bus is next: ${bus}.`].join(' ');
}
