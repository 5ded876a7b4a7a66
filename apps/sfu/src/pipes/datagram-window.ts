/** Datagrams that may overtake each other. */
const WINDOW = 1024;

/** Which numbers of datagrams came already: each is accepted once. */
export class DatagramWindow {
  readonly #seen = new Float64Array(WINDOW);
  /** The highest number accepted so far. */
  highest = 0;

  isFresh(number: number): boolean {
    return Number.isSafeInteger(number) && number > this.highest - WINDOW && this.#seen[number % WINDOW] !== number;
  }

  accept(number: number): void {
    this.#seen[number % WINDOW] = number;
    if (number > this.highest) this.highest = number;
  }
}

const HIGH = 2 ** 32;

export function writeNumber(buffer: Buffer, at: number, number: number): void {
  buffer.writeUInt32BE(Math.floor(number / HIGH), at);
  buffer.writeUInt32BE(number % HIGH, at + 4);
}

export const readNumber = (buffer: Buffer, at: number): number =>
  buffer.readUInt32BE(at) * HIGH + buffer.readUInt32BE(at + 4);
