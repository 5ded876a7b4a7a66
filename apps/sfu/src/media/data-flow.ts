import { DATA_FLOW, type DataFlowState } from '@parley/media-description';

/** A receiver that keeps senders waiting for longer is not waited for. */
const HELD_MS_MAX = 5000;
const MISSED_EVERY_MS = 1000;

/** What is known of a receiver. */
interface Queue {
  /** Whether it has read most of what was queued for it, or is gone. */
  readonly isDrained: boolean;
}

interface Slow {
  since: number;
  senders: Set<string>;
}

/**
 * Backpressure for reliable data: who sends to a receiver that reads too slowly, or has sent too much this second, is
 * told to wait, and is told when it need not. A receiver delays others for a few seconds at most.
 */
export class DataFlow {
  readonly #tell: (sender: string, state: DataFlowState) => void;
  readonly #slow = new Map<Queue, Slow>();
  /** Senders that spent their share, and until when. */
  readonly #spent = new Map<string, number>();
  readonly #held = new Set<string>();
  readonly #missedAt = new Map<string, number>();
  /** What other processes have told of senders of this one: each is as one more receiver that is slow. */
  readonly #elsewhere = new Map<string, { isDrained: boolean }>();

  constructor(tell: (sender: string, state: DataFlowState) => void) {
    this.#tell = tell;
  }

  /** A message of this sender waits in a long queue. */
  queued(sender: string, receiver: Queue, now: number): void {
    const slow = this.#slow.get(receiver) ?? { since: now, senders: new Set() };
    this.#slow.set(receiver, slow);
    if (now - slow.since > HELD_MS_MAX) return;
    slow.senders.add(sender);
    this.#hold(sender);
  }

  /** Another process of the room tells a sender of this one. Should its next word be lost, the bound holds here too. */
  told(sender: string, process: string, state: DataFlowState, now: number): void {
    const key = `${process} ${sender}`;
    this.#open(key);
    if (state === DATA_FLOW.missed) this.missed(sender, now);
    if (state !== DATA_FLOW.held) return;
    const there = { isDrained: false };
    this.#elsewhere.set(key, there);
    this.queued(sender, there, now);
  }

  #open(key: string): void {
    const there = this.#elsewhere.get(key);
    if (there) there.isDrained = true;
    this.#elsewhere.delete(key);
  }

  spent(sender: string, until: number): void {
    this.#spent.set(sender, until);
    this.#hold(sender);
  }

  #hold(sender: string): void {
    if (this.#held.has(sender)) return;
    this.#held.add(sender);
    this.#tell(sender, DATA_FLOW.held);
  }

  /** A message did not reach all of its receivers, and will not. */
  missed(sender: string, now: number): void {
    if (now - (this.#missedAt.get(sender) ?? Number.NEGATIVE_INFINITY) < MISSED_EVERY_MS) return;
    this.#missedAt.set(sender, now);
    this.#release(sender, DATA_FLOW.missed);
  }

  #release(sender: string, state: DataFlowState): void {
    this.#held.delete(sender);
    this.#spent.delete(sender);
    for (const { senders } of this.#slow.values()) senders.delete(sender);
    this.#tell(sender, state);
  }

  forget(sender: string): void {
    for (const key of [...this.#elsewhere.keys()]) if (key.endsWith(` ${sender}`)) this.#open(key);
    this.#held.delete(sender);
    this.#spent.delete(sender);
    this.#missedAt.delete(sender);
    for (const { senders } of this.#slow.values()) senders.delete(sender);
  }

  /** Every 20 ms. */
  tick(now: number): void {
    for (const [receiver, { since, senders }] of this.#slow) {
      if (receiver.isDrained) this.#slow.delete(receiver);
      else if (now - since > HELD_MS_MAX) for (const sender of [...senders]) this.#release(sender, DATA_FLOW.missed);
    }
    for (const [sender, until] of this.#spent) if (now >= until) this.#spent.delete(sender);
    for (const [sender, at] of this.#missedAt) if (now - at >= MISSED_EVERY_MS) this.#missedAt.delete(sender);
    if (this.#held.size === 0) return;
    const waiting = new Set(this.#spent.keys());
    for (const { senders } of this.#slow.values()) for (const sender of senders) waiting.add(sender);
    for (const sender of [...this.#held]) if (!waiting.has(sender)) this.#release(sender, DATA_FLOW.open);
  }
}
