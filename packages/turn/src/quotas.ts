/** What one relay gives away at most. A call takes a handful of allocations: one a transport, network and URL. */
export interface TurnQuotas {
  allocations: number;
  allocationsPerAddress: number;
  allocationsPerUser: number;
  permissions: number;
  channels: number;
  /** Each way, of one allocation. */
  bytesPerSecond: number;
}

export const QUOTAS: TurnQuotas = {
  allocations: 10_000,
  allocationsPerAddress: 1000,
  allocationsPerUser: 64,
  permissions: 16,
  channels: 16,
  bytesPerSecond: 8_000_000,
};

/** A second's worth at once, refilled as time passes. */
export class ByteBudget {
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
