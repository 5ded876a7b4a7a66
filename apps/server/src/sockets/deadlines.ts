/** What is looked at when its time has come. */
export interface Timed {
  /** Returns when it is to be looked at next, in milliseconds of `elapsed`; Infinity for never again. */
  tick(times: Times): number;
}

export interface Times {
  now: number;
  elapsed: number;
}

const slotMs = 1_000;
/** The wall clock was set, not only disciplined. */
const stepMs = 500;

/**
 * Connections by the second in which each has its next deadline: a heartbeat is far away most of the time, and looking
 * at ten thousand of them each second costs more than all else that they do.
 */
export class Deadlines<T extends Timed> {
  /** All of them, each with its slot. */
  readonly #slotOf = new Map<T, number>();
  readonly #slots = new Map<number, Set<T>>();
  readonly #onError: (error: unknown) => void;
  /** What the wall clock is ahead of the monotonic one. */
  #offset = Number.NaN;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#slotOf.size;
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#slotOf.keys();
  }

  /** Looked at with the next tick. */
  add(timed: T): void {
    this.#place(timed, 0);
  }

  /** One of its deadlines may have come nearer. */
  recheck(timed: T): void {
    if (this.#slotOf.has(timed)) this.#place(timed, 0);
  }

  remove(timed: T): void {
    this.#leave(timed);
    this.#slotOf.delete(timed);
  }

  /** Called about once a second. */
  tick(times: Times): void {
    const offset = times.now - times.elapsed;
    const isStepped = !(Math.abs(offset - this.#offset) < stepMs);
    this.#offset = offset;
    // Tokens end by the wall clock: one that was set may have brought every end nearer.
    if (isStepped) {
      for (const timed of [...this.#slotOf.keys()]) this.#look(timed, times);
      return;
    }
    const slot = slotAt(times.elapsed);
    for (const [at, due] of [...this.#slots]) {
      if (at > slot) continue;
      for (const timed of [...due]) this.#look(timed, times);
    }
  }

  #look(timed: T, times: Times): void {
    let dueAt = times.elapsed + slotMs;
    try {
      dueAt = timed.tick(times);
    } catch (error) {
      // The others have their deadlines all the same, and it has another in a second.
      this.#onError(error);
    }
    // It may be gone by its own tick.
    if (this.#slotOf.has(timed)) this.#place(timed, slotAt(dueAt));
  }

  #place(timed: T, slot: number): void {
    if (this.#slotOf.get(timed) === slot) return;
    this.#leave(timed);
    this.#slotOf.set(timed, slot);
    if (slot === Number.POSITIVE_INFINITY) return;
    const others = this.#slots.get(slot);
    if (others) others.add(timed);
    else this.#slots.set(slot, new Set([timed]));
  }

  #leave(timed: T): void {
    const slot = this.#slotOf.get(timed) ?? Number.NaN;
    const others = this.#slots.get(slot);
    others?.delete(timed);
    if (others?.size === 0) this.#slots.delete(slot);
  }
}

const slotAt = (elapsed: number): number => Math.floor(elapsed / slotMs);
