/** Child process: many subscribers of one conversation who note how old each message is when it arrives. */
import { WebSocket } from 'ws';

type ListenersOrder =
  | { open: { url: string; token: string; room: string; count: number } }
  | { expect: number }
  | { report: true };

export interface SocketTimes {
  p99Ms: number;
  count: number;
}

const ages: number[] = [];
let sockets = 0;
let expected = 0;
let onComplete: () => void = () => undefined;

/** Only the time is read: parsing whole frames would cost more than sending them. */
const mark = Buffer.from('"sentAt":');
const markedMax = 40;

async function openOne({ url, token, room }: Extract<ListenersOrder, { open: object }>['open']): Promise<void> {
  const ws = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/chat/ws?token=${token}`);
  await new Promise<void>((resolve, reject) => {
    ws.on('error', reject);
    ws.on('message', (data: Buffer) => {
      const at = data.indexOf(mark);
      if (at >= 0) return note(data.toString('latin1', at + mark.length, at + markedMax));
      const text = data.toString();
      if (text.startsWith('{"type":"hello"')) {
        const wanted = [{ ref: room, presence: false }];
        ws.send(JSON.stringify({ type: 'subscribe', id: 's', conversations: wanted }));
      } else if (text.includes('"ref":"s"')) {
        if (text.startsWith('{"type":"ack"')) resolve();
        else reject(new Error(text));
      }
    });
  });
  setInterval(() => ws.send('{"type":"ping"}'), 15_000).unref();
  sockets++;
}

function note(text: string): void {
  ages.push(performance.timeOrigin + performance.now() - Number.parseFloat(text));
  if (ages.length >= expected) onComplete();
}

async function answer(order: ListenersOrder): Promise<object> {
  if ('open' in order) {
    for (let at = 0; at < order.open.count; at += 50) {
      await Promise.all(Array.from({ length: Math.min(50, order.open.count - at) }, () => openOne(order.open)));
    }
    return { sockets };
  }
  if ('expect' in order) {
    ages.length = 0;
    expected = order.expect * sockets;
    return {};
  }
  if (ages.length < expected) {
    await new Promise<void>((resolve) => {
      onComplete = resolve;
    });
  }
  ages.sort((a, b) => a - b);
  return { p99Ms: ages[Math.floor(ages.length * 0.99)] ?? 0, count: ages.length };
}

process.on('message', (order: ListenersOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
