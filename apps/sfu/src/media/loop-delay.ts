/** How late the ticks of this process come: what its event loop does meanwhile delays every packet as long. */
export class LoopDelay {
  #tickedAt: number | null = null;
  readonly #lateMs: number[] = [];

  tick(now: number, everyMs: number): void {
    if (this.#tickedAt !== null) this.#lateMs.push(Math.max(0, now - this.#tickedAt - everyMs));
    this.#tickedAt = now;
  }

  /** The next tick has none before it. */
  restart(): void {
    this.#tickedAt = null;
  }

  /** Since the last time it was asked for, 99th percentile. */
  takeSeconds(): number {
    const sorted = this.#lateMs.splice(0).sort((a, b) => a - b);
    return (sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0) / 1000;
  }
}
