/** Measurements of one kind, and what is said of them. */
export class Figures {
  readonly #values: number[] = [];
  /** How many there should have been. */
  expected = 0;

  add(value: number): void {
    this.#values.push(value);
  }

  /** Resets the measurement. */
  reset(): void {
    this.#values.length = 0;
    this.expected = 0;
  }

  get count(): number {
    return this.#values.length;
  }

  /** Null when nothing was measured. */
  percentile(share: number): number | null {
    if (this.#values.length === 0) return null;
    const sorted = this.#values.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
  }

  /** Share of what was expected and did not come; null when nothing was expected. */
  get loss(): number | null {
    return this.expected === 0 ? null : Math.max(0, 1 - this.#values.length / this.expected);
  }
}
