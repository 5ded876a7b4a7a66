/** Numbers further back than this are no longer queried. */
const REACH_MAX = 1024;

/** Numbers of a stream that were dropped: those after them move up, so that a receiver sees no gap. */
export class SkippedNumbers {
  readonly #shift: number;
  readonly #reach: number;
  readonly #numbers: number[] = [];
  #older = 0;

  /** `bits` of the circle on which the numbers run. */
  constructor(bits: number) {
    this.#shift = 32 - bits;
    this.#reach = Math.min(REACH_MAX, 2 ** (bits - 2));
  }

  /** Numbers are added in their order. */
  add(number: number): void {
    this.#numbers.push(number);
  }

  has(number: number): boolean {
    return this.#numbers.includes(number);
  }

  get last(): number | undefined {
    return this.#numbers.at(-1);
  }

  /** How many were dropped before `number`. */
  before(number: number): number {
    while (this.#numbers.length > 0 && this.#distance(this.#numbers[0] ?? 0, number) > this.#reach) {
      this.#numbers.shift();
      this.#older += 1;
    }
    let at = this.#numbers.length;
    while (at > 0 && this.#distance(this.#numbers[at - 1] ?? 0, number) <= 0) at -= 1;
    return this.#older + at;
  }

  /** Positive when `to` is newer. */
  #distance = (from: number, to: number): number => ((to - from) << this.#shift) >> this.#shift;
}
