/** Child process: thousands of chat clients, each in some conversations, who check that every change comes exactly once. */
import { WebSocket } from 'ws';

type CrowdOrder =
  | { gather: { port: number; members: { token: string; rooms: string[] }[]; presence: boolean } }
  /** All connections are gone at once. */
  | { scatter: true }
  /** All come back at once, from where each was. */
  | { return: { port: number } }
  /** The last change of each conversation: answered when everybody has it. */
  | { reach: Record<string, number> }
  /** How many are connected. */
  | { count: true };

export interface Returned {
  seconds: number;
  /** Of each until its subscription was answered. */
  p50Ms: number;
  p99Ms: number;
  /** Subscriptions whose gap the server would not close. */
  unrecovered: number;
  /** Attempts beyond the first, and why the last of them was needed. */
  retries: number;
  lastFailure: string;
}

export interface Checked {
  /** Changes that came twice, and those that never came. */
  repeated: number;
  missed: number;
}

interface Place {
  change: number;
  epoch: string;
}

const heartbeatMs = 15_000;
/** Connections on their way at the same time while gathering; a return has no such bound. */
const gatherAtOnce = 200;
let [repeated, missed] = [0, 0];

class Member {
  readonly #token: string;
  readonly #rooms: string[];
  readonly #presence: boolean;
  readonly #address: string;
  readonly places = new Map<string, Place>();
  #ws: WebSocket | null = null;
  unrecovered = 0;

  constructor({ token, rooms }: { token: string; rooms: string[] }, place: number, presence: boolean) {
    this.#token = token;
    this.#rooms = rooms;
    this.#presence = presence;
    // One address has ports for fewer connections than a crowd makes while the old ones linger.
    this.#address = `127.0.0.${2 + (place % 50)}`;
  }

  /** Resolves when the subscription is answered. */
  connect(port: number): Promise<void> {
    const ws = new WebSocket(`ws://127.0.0.1:${port}/v1/chat/ws?token=${this.#token}`, {
      localAddress: this.#address,
      perMessageDeflate: false,
    });
    this.#ws = ws;
    const heartbeat = setInterval(() => ws.readyState === ws.OPEN && ws.send('{"type":"ping"}'), heartbeatMs);
    return new Promise((resolve, reject) => {
      ws.on('message', (data: Buffer) => this.#receive(String(data), resolve, reject));
      ws.on('error', reject);
      ws.on('close', (code) => {
        clearInterval(heartbeat);
        reject(new Error(`closed with ${code}`));
      });
    });
  }

  #receive(text: string, onAnswer: () => void, onRefusal: (error: Error) => void): void {
    if (text.startsWith('{"type":"presence"') || text.startsWith('{"type":"pong"')) return;
    const frame = JSON.parse(text) as Frame;
    if (frame.type === 'hello') this.#subscribe();
    else if (frame.type === 'recovered') for (const { change } of frame.changes ?? []) this.#note(frame, change);
    else if (frame.change !== undefined) this.#note(frame, frame.change);
    else if (frame.ref === 's' && frame.data) {
      this.#settle(frame.data.conversations);
      onAnswer();
    } else if (frame.type === 'error') onRefusal(new Error(text));
  }

  #subscribe(): void {
    const conversations = this.#rooms.map((ref) => {
      const known = this.places.get(ref);
      const from = known === undefined ? {} : { since: known.change, epoch: known.epoch };
      return { ref, presence: this.#presence, ...from };
    });
    this.#ws?.send(JSON.stringify({ type: 'subscribe', id: 's', conversations }));
  }

  #settle(answers: Answer[]): void {
    for (const { conversationId, change, epoch, recovered, code } of answers) {
      if (code !== undefined) throw new Error(`subscription refused: ${code}`);
      if (!this.places.has(conversationId)) this.places.set(conversationId, { change, epoch });
      else if (!recovered) this.unrecovered++;
    }
  }

  #note({ conversationId = '' }: Frame, change: number): void {
    const place = this.places.get(conversationId);
    if (!place) throw new Error(`a change of ${conversationId} before the answer`);
    if (change <= place.change) repeated++;
    else missed += change - place.change - 1;
    place.change = Math.max(place.change, change);
  }

  get isConnected(): boolean {
    return this.#ws?.readyState === WebSocket.OPEN;
  }

  leave(): void {
    this.#ws?.terminate();
    this.#ws = null;
  }
}

interface Answer {
  conversationId: string;
  change: number;
  epoch: string;
  recovered: boolean;
  code?: string;
}

interface Frame {
  type: string;
  ref?: string;
  conversationId?: string;
  change?: number;
  changes?: { change: number }[];
  data?: { conversations: Answer[] };
}

let crowd: Member[] = [];

async function gather({ port, members, presence }: Extract<CrowdOrder, { gather: object }>['gather']) {
  crowd = members.map((member, at) => new Member(member, at, presence));
  for (let at = 0; at < crowd.length; at += gatherAtOnce) {
    await Promise.all(crowd.slice(at, at + gatherAtOnce).map((member) => member.connect(port)));
  }
  return {};
}

let lastFailure = '';

/** A refused or closed connection is retried, as a client does. */
async function comeBack(member: Member, port: number): Promise<number> {
  for (let retries = 0; ; retries++) {
    try {
      await member.connect(port);
      return retries;
    } catch (error) {
      lastFailure = String(error);
    }
    member.leave();
    await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 800));
  }
}

async function comeBackAll(port: number): Promise<Returned> {
  for (const member of crowd) member.unrecovered = 0;
  const started = performance.now();
  const times: number[] = [];
  const retries = await Promise.all(
    crowd.map(async (member) => {
      const count = await comeBack(member, port);
      times.push(performance.now() - started);
      return count;
    }),
  );
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? 0;
  return {
    seconds: at(1) / 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    unrecovered: crowd.reduce((sum, { unrecovered }) => sum + unrecovered, 0),
    retries: retries.reduce((sum, count) => sum + count, 0),
    lastFailure,
  };
}

const isThere = (heads: Record<string, number>): boolean =>
  crowd.every(({ places }) => [...places].every(([room, { change }]) => change >= (heads[room] ?? 0)));

async function reach(heads: Record<string, number>): Promise<Checked> {
  const deadline = performance.now() + 30_000;
  while (!isThere(heads) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  // What has not come by now never will.
  for (const { places } of crowd) {
    for (const [room, { change }] of places) missed += Math.max(0, (heads[room] ?? 0) - change);
  }
  return { repeated, missed };
}

async function answer(order: CrowdOrder): Promise<object> {
  if ('gather' in order) return gather(order.gather);
  if ('return' in order) return comeBackAll(order.return.port);
  if ('reach' in order) return reach(order.reach);
  if ('count' in order) return { connected: crowd.filter(({ isConnected }) => isConnected).length };
  for (const member of crowd) member.leave();
  return {};
}

process.on('message', (order: CrowdOrder) => {
  answer(order).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
