/** Datagrams that may overtake each other. */
const WINDOW = 1024;
/** A datagram this far behind counts as lost. */
const LATE = 128;

/** Which numbers of datagrams came already: each is accepted once. */
export class DatagramWindow {
  readonly #seen = new Float64Array(WINDOW);
  /** The highest number accepted so far. */
  highest = 0;
  /** What never came, or too late; what was sent before the first one was not for us. Never falls. */
  lost = 0;
  #first = 0;

  isFresh(number: number): boolean {
    return Number.isSafeInteger(number) && number > this.highest - WINDOW && this.#seen[number % WINDOW] !== number;
  }

  accept(number: number): void {
    if (this.#first === 0) this.#first = number;
    else if (number > this.highest) this.#countLost(number);
    this.#seen[number % WINDOW] = number;
    if (number > this.highest) this.highest = number;
  }

  /** Of the numbers that fall behind with this one. */
  #countLost(number: number): void {
    const until = number - LATE;
    const begin = Math.max(this.#first, this.highest - LATE + 1);
    for (let behind = begin; behind <= Math.min(until, this.highest); behind += 1)
      if (this.#seen[behind % WINDOW] !== behind) this.lost += 1;
    this.lost += Math.max(0, until - this.highest);
  }
}

const HIGH = 2 ** 32;

export function writeNumber(buffer: Buffer, at: number, number: number): void {
  buffer.writeUInt32BE(Math.floor(number / HIGH), at);
  buffer.writeUInt32BE(number % HIGH, at + 4);
}

export const readNumber = (buffer: Buffer, at: number): number =>
  buffer.readUInt32BE(at) * HIGH + buffer.readUInt32BE(at + 4);
