import type { CallRuntime } from '../src/call-runtime.ts';

/** A clock that is moved by hand, and sockets that do what the test says. */
export interface FakeWorld extends CallRuntime {
  sockets: FakeSocket[];
  /** Lets time pass, timer by timer. */
  advance(ms: number): Promise<void>;
  wake(type?: 'online' | 'visibilitychange'): void;
  hidePage(): void;
  /** How many are set. */
  readonly timers: number;
}

export class FakeSocket {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly openedAt: number;
  readyState = 0;
  sent: { type: string; id?: string; [field: string]: unknown }[] = [];
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;

  constructor(url: string, protocols: readonly string[], openedAt: number) {
    this.url = url;
    this.protocols = protocols;
    this.openedAt = openedAt;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(code = 1000): void {
    this.drop(code);
  }

  /** The server closes, or the network does (1006). */
  drop(code: number, reason = ''): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.onclose?.({ code, reason });
  }

  receive(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }

  hello(fields: object = {}): void {
    this.readyState = 1;
    this.receive({ type: 'hello', heartbeatIntervalMs: 15_000, maxFrameBytes: 65_536, userId: 'ada', ...fields });
  }
}

/** Lets promises that are ready run on. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createFakeWorld(random: () => number = () => 0.5): FakeWorld {
  let now = 0;
  let lastId = 0;
  const timers = new Map<object, { at: number; run: () => void }>();
  const wakers = new Set<Parameters<CallRuntime['onWake']>[0]>();
  const hiders = new Set<() => void>();
  const sockets: FakeSocket[] = [];

  return {
    sockets,
    get timers() {
      return timers.size;
    },
    now: () => now,
    random,
    newId: () => `id-${++lastId}`,
    setTimer(run, ms) {
      const key = {};
      timers.set(key, { at: now + ms, run });
      return () => timers.delete(key);
    },
    openWebSocket(url, protocols) {
      const socket = new FakeSocket(url, protocols, now);
      sockets.push(socket);
      // It has what the SDK uses of a WebSocket.
      return socket as unknown as WebSocket;
    },
    fetch: () => Promise.reject(new Error('no network in this test')),
    onWake(listener) {
      wakers.add(listener);
      return () => wakers.delete(listener);
    },
    wake(type = 'visibilitychange') {
      for (const waker of wakers) waker({ type });
    },
    onPageHide(listener) {
      hiders.add(listener);
      return () => hiders.delete(listener);
    },
    hidePage() {
      for (const hider of hiders) hider();
    },
    async advance(ms) {
      const until = now + ms;
      for (;;) {
        await settle();
        const next = [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0];
        if (!next) break;
        const [key, { at, run }] = next;
        timers.delete(key);
        now = Math.max(now, at);
        run();
      }
      now = until;
      await settle();
    },
  };
}
