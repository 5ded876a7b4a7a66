import { conclusion, million, millionRows } from './capacity-million.ts';
import { about, known, paragraph, type ReadResult, type Say, sayerOf, table } from './capacity-text.ts';
import { figure } from './ratio.ts';

/** The capacity guide: every figure is from a file of results, with the arithmetic shown. */
export function capacityPage(read: ReadResult): string {
  const say = sayerOf(read);
  return `<!-- Generated from docs/benchmarks/results by tools/generate.ts. Do not edit. -->

# Capacity

What one core carries, how that grows with processes and nodes, what breaks first, and a million connections on paper.

Every figure is taken from the benchmarks' results in \`docs/benchmarks\` when this page is made, and names the benchmark it is from: \`npm run bench -- <name>\` gives you yours. What was not measured is left out. They were run on ${machinesText(read)}, with PostgreSQL, Redis and the load generator beside the service, so take rates as lower bounds; costs are CPU time, which is more portable.

## What one core carries

${table(['What', 'Cost', 'So one core carries', 'Benchmark'], known(coreRows(say)))}
The cost of a viewer of a live stream is measured by \`node tools/proof/stream-audience.ts\`.

What does not grow:

${unchanging(say).join('\n')}

${besideEjabberd(say)}

## More processes

${paragraph(
  'Server processes are equal, behind a plain TCP balancer. On a machine whose cores are busy already more processes gain little, since the messages of an event-loop turn are stored, published and flushed together, and three processes batch less in a turn.',
  say(
    ['chat-processes/gain', 'chat-processes/gainHeard'],
    (gain, heard) =>
      `Three instead of one stored ${figure(gain)} times as many messages, and ${figure(heard)} times as many with ten listeners to each (\`chat-processes\`).`,
  ),
  'Aim for one process a core, on dedicated cores; give the database its own machine.',
)}

${paragraph(
  'A process hears a conversation only while somebody there listens (ADR 167).',
  say(
    ['chat-processes/unheardCpuUs'],
    (us) => `A message that nobody in a process hears costs it at most ${figure(us)} µs.`,
  ),
)}

Numbers of a conversation are assigned under the lock of its row, which makes them dense. A batch of one process takes it once; processes that store in the same conversation wait for each other there (\`chat-hot\`). Conversations do not wait for one another.

## More nodes

A media node adds its cores to the fleet; rooms do not share anything. A room begins in one process of one node and, when that is busy (\`SFU_ROOM_SPREAD_PERCENT\`), goes on in others of the same node, and when those are busy too, on the next node of the region, where nodes have pipes (\`SFU_PIPE_PORT\`).${say(
    ['sfu-forwarding/streamCpuMs'],
    (ms) =>
      ` 50 participants who all send and all see 25 others are 1,250 streams, which at full rate are 1,250 × ${figure(ms)} ms = ${figure((1_250 * ms) / 1000)} cores; simulcast, pausing unwatched tracks and small layers make it less.`,
  )} A room has 50 places, and up to 1,000 if it asks for them ([limits](limits.md)).

${beside16Cores(say, read('sfu-pipes')?.machine.cores)}
## What breaks first

${table(['With more of', 'First bottleneck', 'Sign', 'What to do'], firstToBreak(say))}
## A million connections, on paper

Idle chat sockets, each in one conversation of ten with presence, from the figures above:

${table(['Part', 'Calculation', 'Needs', 'So that none is above 60 %'], known(millionRows(say)))}
${conclusion(say)}

None of this has been run${say(['chat-idle/sockets', 'chat-reconnect/returned'], (open, back) => `: the largest runs are ${figure(open)} open and ${figure(back)} returning sockets on one process`)}. The calculation leaves out the network (a million sockets' heartbeats are ${figure(million / 15)} small packets a second each way), TLS at the balancer, the kernel's own memory for sockets, some gigabytes, and what processes pay to hear a message whose ten listeners are on ten of them instead of one.
`;
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
    cpu('A chat message stored, database and Redis included', 'chat-processes', 'storedCpuUs'),
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
  const beside = [
    'chat-conversations/listRatio',
    'chat-conversations/unreadRatio',
    'chat-conversations/sendRatio',
  ] as const;
  return [
    say(
      beside,
      (list, unread, send) =>
        `- In a project with 100,000 conversations beside one with 100 (\`chat-conversations\`): listing takes ${figure(list)} times as long, what a user in all of them has not read ${figure(unread)}, sending ${figure(send)}.`,
    ),
    say(
      ['chat-history/lastPageRatio'],
      (ratio) =>
        `- The last page of a million messages beside the first (\`chat-history\`): ${figure(ratio)} times the time.`,
    ),
    say(
      ['stalled-socket/stalledRatio'],
      (ratio) =>
        `- One stalled reader of a thousand (\`stalled-socket\`): the others' p99 is ${figure(ratio)} times what it is without.`,
    ),
  ].filter(Boolean);
}

const besideEjabberd = (say: Say): string =>
  say(
    [
      'chat-ejabberd/storedPerSecond',
      'chat-ejabberd/peerStoredPerSecond',
      'chat-ejabberd/deliveryCpuUs',
      'chat-ejabberd/peerDeliveryCpuUs',
      'chat-ejabberd/pageMs',
      'chat-ejabberd/peerPageMs',
    ],
    (stored, peerStored, cpu, peerCpu, page, peerPage) =>
      `Beside ejabberd on the same PostgreSQL, same machine, in turns (\`chat-ejabberd\`): ${figure(stored / peerStored)} times the stored group messages (${figure(stored)} against ${figure(peerStored)} a second, ten listening to each), ${figure(cpu / peerCpu)} of the CPU for a delivery (${figure(cpu)} against ${figure(peerCpu)} µs, database included), the newest 50 of 100,000 messages in ${figure(page)} ms against ${figure(peerPage)} ms.`,
  );

/** What LiveKit's benchmark page says of one room on a c2-standard-16: https://docs.livekit.io/home/self-hosting/benchmark/ */
const liveKitRooms = [
  { what: 'One publishes video, 3,000 watch', packetsIn: 246, packetsOut: 560_962, piped: 187, percent: 92 },
  { what: '150 publish video, 150 watch all', packetsIn: 51_068, packetsOut: 762_749, piped: 5_085, percent: 85 },
  { what: '10 speak, 3,000 listen', packetsIn: 305, packetsOut: 959_156, piped: 320, percent: 80 },
] as const;
const roomCores = 16;

function beside16Cores(say: Say, machineCores: number | undefined): string {
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
  if (rows.some(([, , , calculated]) => calculated === '')) return '';
  return `### One room on 16 cores, on paper

LiveKit's [benchmark page](https://docs.livekit.io/home/self-hosting/benchmark/) measures one room on 16 cores (c2-standard-16), the most that a room of theirs can have. The same packets a second, by what a packet of 1,100 bytes costs us (\`sfu-forwarding\`), each that comes in counted as one that goes out, and each that is watched piped once to ${roomCores - 1} other processes (\`sfu-pipes\`):

${table(['Room', 'Packets in / out a second', 'LiveKit, measured', 'Ours, calculated'], rows)}
Their cores are not those that ours was measured on, and ours has not been run at this size, so read it as an order of magnitude${say(['sfu-pipes/pipedPacketMicros', 'sfu-pipes/packetMicros'], (two, one) => `: on ${machineCores} cores, which had the subscribers as well, a packet cost ${figure(two / one)} times as much in two processes with a pipe as in one`)}. Packets of sound are small and cost less than reckoned; of ten open microphones in a large room at most six are forwarded. Beyond 16 cores our room goes on at the next node${say(['sfu-pipes/nodePipePacketMicros'], (us) => `, where a packet over a pipe costs ${figure(us)} µs, encrypted`)}. A room has at most 1,000 places; larger audiences are those of live streams.
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
      `memory${say(['chat-idle/memoryKiB'], (kib) => ` (${figure(kib)} KiB each)`)}, then file descriptors (\`LimitNOFILE\`) and ports of the balancer (28,000 for each address and server)`,
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
      'Redis above 60 % of its core',
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
      `the dashboard's overview, which counts them${say(['chat-conversations/overviewMs'], (ms) => `: ${figure(ms)} ms for 500,000 (\`chat-conversations\`)`)}, then cached for 20 times as long, at most half a minute`,
      'slow overview',
      'nothing: only its viewers wait',
    ],
  ];
}
