import { setTimeout as pause } from 'node:timers/promises';
import { RateLimitError, type Svc, speaker, viewer } from '@parley/server';
import type { Context } from '../command.ts';
import { table } from '../table.ts';
import { type ChatUser, joinChat, sendSteadily } from './chat.ts';
import { Figures } from './figures.ts';
import { type Publisher, publish, type Subscriber, subscribe } from './media.ts';
import { createProgress } from './progress.ts';

export interface Plan {
  rooms: number;
  publishers: number;
  subscribers: number;
  chatters: number;
  seconds: number;
  packetsPerSecond: number;
  bytes: number;
  messageEveryMs: number;
}

const warmUpMsMax = 10_000;
/** So that every subscription has its keyframe. */
const settleMs = 1_200;

export class LoadTest {
  /** Errors of failed joins, and how often each. */
  readonly failures = new Map<string, number>();
  readonly #media = new Figures();
  readonly #received = new Figures();
  readonly #acknowledged = new Figures();
  readonly #joins = new Figures();
  readonly #publishers: Publisher[] = [];
  readonly #subscribers: Subscriber[] = [];
  readonly #chatters: { user: ChatUser; others: number }[] = [];
  readonly #rooms: string[] = [];
  readonly #progress: ReturnType<typeof createProgress>;
  readonly #plan: Plan;
  readonly #svc: Svc;
  readonly #url: string;
  readonly #context: Context;

  constructor(plan: Plan, svc: Svc, url: string, context: Context) {
    this.#plan = plan;
    this.#svc = svc;
    this.#url = url;
    this.#context = context;
    this.#progress = createProgress(context);
  }

  async enter(): Promise<void> {
    const { rooms, publishers, subscribers, chatters } = this.#plan;
    const all = rooms * (publishers + subscribers + chatters);
    let entered = 0;
    const step = (): void => this.#progress.show('Entering', ++entered, all);
    for (let index = 0; index < rooms && !this.#context.signal.aborted; index++) {
      const room = await this.#newRoom(index);
      // Watchers first, so that the first packet already has a subscriber.
      for (let one = 0; one < subscribers; one++) {
        const token = await this.#rtcToken(room, `subscriber-${one}`, viewer());
        await this.#timed(async () => void this.#subscribers.push(await subscribe(this.#url, token, this.#media)));
        step();
      }
      for (let one = 0; one < publishers; one++) {
        const token = await this.#rtcToken(room, `publisher-${one}`, speaker());
        await this.#timed(async () => void this.#publishers.push(await publish(this.#url, token, this.#plan)));
        step();
      }
      for (let one = 0; one < chatters; one++) {
        await this.#timed(() => this.#addChatter(room, `chatter-${one}`));
        step();
      }
    }
  }

  async measure(): Promise<void> {
    await this.#warmUp();
    const sentBefore = this.#sent();
    const stops = this.#chatters.map(({ user, others }) =>
      sendSteadily(user, {
        everyMs: this.#plan.messageEveryMs,
        others,
        acknowledged: this.#acknowledged,
        received: this.#received,
      }),
    );
    for (let second = 0; second < this.#plan.seconds && !this.#context.signal.aborted; second++) {
      this.#progress.show('Measuring, seconds', second, this.#plan.seconds);
      await pause(1_000, undefined, { signal: this.#context.signal }).catch(() => {});
    }
    for (const stop of stops) stop();
    for (const publisher of this.#publishers) publisher.pause();
    this.#media.expected = (this.#sent() - sentBefore) * (this.#subscribers.length / Math.max(1, this.#plan.rooms));
    // What is on its way may still arrive.
    await pause(500);
    this.#progress.end();
  }

  #sent(): number {
    return this.#publishers.reduce((sum, publisher) => sum + publisher.sent(), 0);
  }

  /** Video flows from its first keyframe on: packets before it do not count as lost. */
  async #warmUp(): Promise<void> {
    const deadline = performance.now() + warmUpMsMax;
    const isWaiting = (): boolean =>
      this.#publishers.length > 0 && this.#subscribers.some((subscriber) => !subscriber.isServed());
    while (isWaiting() && performance.now() < deadline && !this.#context.signal.aborted) await pause(50);
    await pause(settleMs);
    this.#media.reset();
  }

  async leave(): Promise<void> {
    for (const publisher of this.#publishers) publisher.close();
    for (const subscriber of this.#subscribers) subscriber.close();
    await Promise.all(this.#chatters.map(({ user }) => user.close()));
    for (const room of this.#rooms) {
      await this.#svc.rooms.close(room).catch(() => {});
      await this.#svc.chat.conversations.delete(room).catch(() => {});
    }
  }

  async #newRoom(index: number): Promise<string> {
    const name = `loadtest-${Date.now().toString(36)}-${index}`;
    const { id } = await this.#patiently(() => this.#svc.rooms.create({ name }));
    this.#rooms.push(name);
    const members = Array.from({ length: this.#plan.chatters }, (_, one) => `chatter-${one}`);
    await this.#patiently(() => this.#svc.chat.conversations.create({ name, roomId: id, members }));
    return name;
  }

  async #rtcToken(room: string, participantIdentity: string, permissions: ReturnType<typeof viewer>): Promise<string> {
    const minted = this.#patiently(() => this.#svc.rooms.tokens.create(room, { participantIdentity, permissions }));
    return (await minted).token;
  }

  async #addChatter(room: string, userId: string): Promise<void> {
    const { token } = await this.#patiently(() => this.#svc.chat.tokens.create({ userId, conversations: [room] }));
    const user = await joinChat(this.#url, token, room, userId, this.#received);
    this.#chatters.push({ user, others: this.#plan.chatters - 1 });
  }

  async #timed(enter: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    this.#joins.expected += 1;
    try {
      await enter();
      this.#joins.add(performance.now() - startedAt);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.failures.set(why, (this.failures.get(why) ?? 0) + 1);
    }
  }

  /** Rate limits of the service apply: a client that hits one waits and reports it. */
  async #patiently<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof RateLimitError) || this.#context.signal.aborted) throw error;
        const seconds = error.retryAfterSeconds ?? 1;
        this.#context.error(`The budget of the key is used up: waiting ${seconds} s.`);
        await pause(seconds * 1_000, undefined, { signal: this.#context.signal });
      }
    }
  }

  #rows(): [string, Figures][] {
    return [
      ['join', this.#joins],
      ['video packet', this.#media],
      ['message stored', this.#acknowledged],
      ['message received', this.#received],
    ];
  }

  result(): object {
    const rows = this.#rows().map(([name, figures]) => ({
      name,
      count: figures.count,
      p50: figures.percentile(0.5),
      p95: figures.percentile(0.95),
      p99: figures.percentile(0.99),
      loss: figures.loss,
    }));
    return { plan: this.#plan, rows, failures: Object.fromEntries(this.failures) };
  }

  report(): string {
    const ms = (value: number | null): string => (value === null ? 'no data' : `${value.toFixed(1)} ms`);
    const rows = this.#rows().map(([name, figures]) => [
      name,
      String(figures.count),
      ms(figures.percentile(0.5)),
      ms(figures.percentile(0.95)),
      ms(figures.percentile(0.99)),
      figures.loss === null ? 'no data' : `${(figures.loss * 100).toFixed(2)} %`,
    ]);
    const failed = [...this.failures].map(([why, count]) => `${count} did not get in: ${why}`);
    return [table(['WHAT', 'COUNT', 'P50', 'P95', 'P99', 'LOSS'], rows), ...failed].join('\n');
  }
}
