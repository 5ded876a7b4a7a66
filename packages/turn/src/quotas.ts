/** What one relay gives away at most. A call takes a handful of allocations: one a transport, network and URL. */
export interface TurnQuotas {
  allocations: number;
  allocationsPerAddress: number;
  allocationsPerUser: number;
  permissions: number;
  channels: number;
  /** Each way, of one allocation. */
  bytesPerSecond: number;
  /** Answers to one address that has proven nothing: they could be meant for somebody else. */
  unprovenPerSecond: number;
}

export const QUOTAS: TurnQuotas = {
  allocations: 10_000,
  allocationsPerAddress: 1000,
  allocationsPerUser: 64,
  permissions: 16,
  channels: 16,
  bytesPerSecond: 8_000_000,
  unprovenPerSecond: 1000,
};

/** A second's worth at once, refilled as time passes. */
export class Budget {
  readonly #perSecond: number;
  #left: number;
  #at: number;

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond;
    this.#at = now;
  }

  take(bytes: number, now: number): boolean {
    this.#left = Math.min(this.#perSecond, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (this.#left < bytes) return false;
    this.#left -= bytes;
    return true;
  }
}

/** How often each key is held. */
export class Counts {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string): void {
    this.#counts.set(key, this.of(key) + 1);
  }

  remove(key: string): void {
    const left = this.of(key) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }
}

const ADDRESSES_MAX = 10_000;

/** A budget for each key. Of the keys those that were seen last are known: more would be an attack on memory. */
export class Budgets {
  readonly #perSecond: number;
  readonly #keysMax: number;
  readonly #budgets = new Map<string, Budget>();

  constructor(perSecond: number, keysMax = ADDRESSES_MAX) {
    this.#perSecond = perSecond;
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#budgets.size;
  }

  take(key: string, now: number): boolean {
    const budget = this.#budgets.get(key) ?? new Budget(this.#perSecond, now);
    // To the end, so that the first is the one that was silent for longest.
    this.#budgets.delete(key);
    this.#budgets.set(key, budget);
    const [oldest] = this.#budgets.size > this.#keysMax ? this.#budgets.keys() : [];
    if (oldest !== undefined) this.#budgets.delete(oldest);
    return budget.take(1, now);
  }
}
