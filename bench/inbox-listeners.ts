/** Child process: members of one conversation, each with a socket, who follow their inboxes or do not. */
import { WebSocket } from 'ws';

type ListenersOrder =
  | { open: { url: string; tokens: string[]; room: string } }
  | { follow: boolean }
  | { expect: number }
  | { report: true };

export interface InboxTimes {
  p50Ms: number;
  p99Ms: number;
  /** Frames of inboxes that came meanwhile. */
  entries: number;
}

const ages: number[] = [];
const sockets: WebSocket[] = [];
let [expected, entries] = [0, 0];
let onComplete: () => void = () => undefined;

/** Only the time is read: parsing whole frames would cost more than sending them. */
const mark = Buffer.from('"sentAt":');
const markedMax = 40;
const inboxStart = Buffer.from('{"type":"inbox');

async function openOne(url: string, token: string, room: string): Promise<void> {
  const ws = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/chat/ws?token=${token}`, { perMessageDeflate: false });
  await new Promise<void>((resolve, reject) => {
    ws.on('error', reject);
    ws.on('message', (data: Buffer) => {
      if (data.subarray(0, inboxStart.length).equals(inboxStart)) return void entries++;
      const at = data.indexOf(mark);
      if (at >= 0) return note(data.toString('latin1', at + mark.length, at + markedMax));
      const text = data.toString();
      if (text.startsWith('{"type":"hello"')) {
        const conversations = [{ ref: room, presence: false }];
        ws.send(JSON.stringify({ type: 'subscribe', id: 's', conversations }));
      } else if (text.includes('"ref":"s"')) resolve();
    });
  });
  setInterval(() => ws.send('{"type":"ping"}'), 15_000).unref();
  sockets.push(ws);
}

function note(text: string): void {
  ages.push(performance.timeOrigin + performance.now() - Number.parseFloat(text));
  if (ages.length >= expected) onComplete();
}

/** Resolves when every socket has its answer. */
async function follow(isFollowing: boolean): Promise<object> {
  const frame = JSON.stringify({ type: isFollowing ? 'inbox.subscribe' : 'inbox.unsubscribe', id: 'f' });
  const askOne = (ws: WebSocket): Promise<void> =>
    new Promise((resolve, reject) => {
      const hear = (data: Buffer): void => {
        const text = data.toString();
        if (!text.includes('"ref":"f"')) return;
        ws.off('message', hear);
        if (text.startsWith('{"type":"ack"')) resolve();
        else reject(new Error(text));
      };
      ws.on('message', hear);
      ws.send(frame);
    });
  for (let at = 0; at < sockets.length; at += 50) await Promise.all(sockets.slice(at, at + 50).map(askOne));
  return {};
}

async function answer(order: ListenersOrder): Promise<object> {
  if ('open' in order) {
    const { url, tokens, room } = order.open;
    for (let at = 0; at < tokens.length; at += 50)
      await Promise.all(tokens.slice(at, at + 50).map((token) => openOne(url, token, room)));
    return { sockets: sockets.length };
  }
  if ('follow' in order) return follow(order.follow);
  if ('expect' in order) {
    ages.length = 0;
    entries = 0;
    expected = order.expect * sockets.length;
    return {};
  }
  if (ages.length < expected) await new Promise<void>((resolve) => (onComplete = resolve));
  ages.sort((a, b) => a - b);
  const at = (share: number): number => ages[Math.floor((ages.length - 1) * share)] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99), entries };
}

process.on('message', (order: ListenersOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
