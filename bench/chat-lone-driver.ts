/** Child process: ten sockets that listen and send in turn, at an even rate that waits for no answer. */
import { WebSocket } from 'ws';

export interface LoneRun {
  port: number;
  /** Chat tokens of the listeners. Null for a bare server, which asks for none. */
  tokens: readonly string[] | null;
  rooms: readonly string[];
  perSecond: number;
  ms: number;
}

export interface LoneResult {
  sent: number;
  /** From sending to the sender's answer. */
  p50Ms: number;
}

const bareListeners = 10;
const text = 'x'.repeat(200);
let runs = 0;

async function open(port: number, token: string | null): Promise<WebSocket> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/v1/chat/ws${token ? `?token=${token}` : ''}`);
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
  return ws;
}

async function run({ port, tokens, rooms, perSecond, ms }: LoneRun): Promise<LoneResult> {
  runs += 1;
  const sockets = await Promise.all(
    tokens ? tokens.map((token) => open(port, token)) : Array.from({ length: bareListeners }, () => open(port, null)),
  );
  let heard = 0;
  const sentAt = new Map<string, number>();
  const tookMs: number[] = [];
  for (const ws of sockets)
    ws.on('message', (data: Buffer) => {
      const type = data.toString('latin1', 0, 40);
      if (type.includes('"type":"message"')) heard += 1;
      if (!type.includes('"type":"ack"')) return;
      const { ref } = JSON.parse(data.toString()) as { ref: string };
      const at = sentAt.get(ref);
      if (at !== undefined) tookMs.push(performance.now() - at);
    });
  const conversations = rooms.map((ref) => ({ ref, presence: false }));
  for (const ws of sockets) ws.send(JSON.stringify({ type: 'subscribe', id: 's', conversations }));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const start = performance.now();
  let sent = 0;
  while (performance.now() - start < ms) {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond);
    for (; sent < due; sent++) {
      const ref = `${runs}-${sent}`;
      sentAt.set(ref, performance.now());
      const conversation = rooms[sent % rooms.length];
      const sender = sockets[sent % sockets.length];
      sender?.send(JSON.stringify({ type: 'message.send', id: ref, conversation, text, clientMessageId: ref }));
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  for (let waits = 0; heard < sent * sockets.length && waits < 600; waits++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  if (heard < sent * sockets.length) throw new Error(`${heard} of ${sent * sockets.length} frames were delivered`);
  for (const ws of sockets) ws.terminate();
  return { sent, p50Ms: tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length / 2)] ?? 0 };
}

process.on('message', (order: LoneRun) => {
  run(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
