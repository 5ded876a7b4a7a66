import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Description, fromSdp, toSdp } from '@parley/media-description';
import { WebSocket } from 'ws';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';

/** Whether the peer of this comparison is installed; Debian has it as `janus`. */
export const hasJanus = (): boolean => spawnSync('janus', ['--version'], { stdio: 'ignore' }).error === undefined;

/** Janus with nothing but its video room, driven over its own WebSocket API. */
export interface Janus {
  pid: number;
  /** Sends an offer of one video as a publisher; gives Janus's answer. */
  publish(offer: Description): Promise<Description>;
  /** Asks for that video; `answer` makes the answer to Janus's offer. */
  subscribe(answer: (offer: Description) => Promise<Description>): Promise<void>;
  stop(): Promise<void>;
}

interface Reply {
  janus: string;
  transaction?: string;
  sender?: number;
  data?: { id: number };
  plugindata?: { data: { id?: number; error?: string; videoroom?: string } };
  jsep?: { type: string; sdp: string };
  error?: unknown;
}

const ROOM = 1;
/** The first of them now and then crashes Janus 1.1 when it is loaded without a port. */
const unusedTransports = ['http', 'mqtt', 'nanomsg', 'pfunix', 'rabbitmq'].map((name) => `libjanus_${name}.so`);

export async function startJanus(): Promise<Janus> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-janus-'));
  const port = await ownPort();
  await writeFile(
    join(folder, 'janus.jcfg'),
    `general: { debug_level = 2 }
media: { rtp_port_range = "20000-40000" }
transports: { disable = "${unusedTransports.join(',')}" }
`,
  );
  await writeFile(join(folder, 'janus.transport.websockets.jcfg'), `general: { ws = true, ws_port = ${port} }\n`);
  await writeFile(
    join(folder, 'janus.plugin.videoroom.jcfg'),
    `room-${ROOM}: { description = "bench", publishers = 1, bitrate = 0, videocodec = "vp8" }\n`,
  );
  const child: ChildProcess = spawn('janus', ['-F', folder, '--disable-colors'], { stdio: 'ignore', cwd: folder });
  const api = await connect(`ws://127.0.0.1:${port}`);
  const session = (await api.ask({ janus: 'create' })).data?.id ?? 0;
  const keepAlive = setInterval(() => void api.ask({ janus: 'keepalive', session_id: session }), 20_000);
  let feed = 0;

  const attach = async () => {
    const { data } = await api.ask({ janus: 'attach', session_id: session, plugin: 'janus.plugin.videoroom' });
    const handle_id = data?.id ?? 0;
    return (body: object, jsep?: object) =>
      api.ask({ janus: 'message', session_id: session, handle_id, body, ...(jsep && { jsep }) });
  };
  return {
    pid: child.pid ?? 0,
    async publish(offer) {
      const message = await attach();
      const joined = await message({ request: 'join', ptype: 'publisher', room: ROOM });
      feed = joined.plugindata?.data.id ?? 0;
      const configured = await message(
        { request: 'configure', audio: false, video: true },
        { type: 'offer', sdp: toSdp(offer), trickle: false },
      );
      return fromSdp(configured.jsep?.sdp ?? '');
    },
    async subscribe(answer) {
      const message = await attach();
      const request = { request: 'join', ptype: 'subscriber', room: ROOM, streams: [{ feed }] };
      // There is nothing to subscribe to before the publisher's transport is up.
      const offered = await eventually(() => message(request), { withinMs: 20_000, everyMs: 200 });
      const offer = fromSdp(offered.jsep?.sdp ?? '');
      const answered = await answer(offer);
      const media = offer.media.map(({ mid, kind, codecs = [] }) => ({
        mid,
        kind,
        codecs,
        direction: 'recvonly' as const,
      }));
      const sdp = toSdp({ ...answered, media });
      await message({ request: 'start' }, { type: 'answer', sdp, trickle: false });
    },
    async stop() {
      clearInterval(keepAlive);
      api.close();
      child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Its API over one socket: every request has one answer, after any number of acknowledgements. */
async function connect(url: string): Promise<{ ask(request: object): Promise<Reply>; close(): void }> {
  const socket = await open(url);
  const waiting = new Map<string, (reply: Reply) => void>();
  let asked = 0;
  socket.on('message', (data) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.janus === 'ack' && !reply.data) return void settleKeepAlive(reply);
    const settle = waiting.get(reply.transaction ?? '');
    waiting.delete(reply.transaction ?? '');
    settle?.(reply);
  });
  /** A keepalive is answered by nothing but its acknowledgement. */
  function settleKeepAlive({ transaction = '' }: Reply): void {
    if (!transaction.startsWith('keepalive')) return;
    waiting.get(transaction)?.({ janus: 'ack' });
    waiting.delete(transaction);
  }
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        const { janus } = request as { janus: string };
        const transaction = `${janus}-${++asked}`;
        waiting.set(transaction, (reply) => {
          const problem = reply.error ?? reply.plugindata?.data.error;
          if (problem) reject(new Error(JSON.stringify(problem)));
          else resolve(reply);
        });
        socket.send(JSON.stringify({ ...request, transaction }));
      }),
    close: () => socket.close(),
  };
}

async function open(url: string): Promise<WebSocket> {
  for (let attempt = 0; ; attempt++) {
    const socket = new WebSocket(url, 'janus-protocol');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('open', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return socket;
    if (attempt > 100) throw new Error('Janus does not answer.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
