/** Reads bits, highest first. Past the end they are zero and `isOver` is true: nothing throws on the path of a packet. */
export class BitReader {
  #bytes: Uint8Array = new Uint8Array();
  #end = 0;
  /** In bits, from the beginning of the bytes. */
  at = 0;
  isOver = false;

  open(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.at = start * 8;
    this.#end = end * 8;
    this.isOver = false;
  }

  read(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      if (this.at >= this.#end) this.isOver = true;
      const bit = this.isOver ? 0 : ((this.#bytes[this.at >> 3] ?? 0) >> (7 - (this.at & 7))) & 1;
      value = value * 2 + bit;
      this.at += 1;
    }
    return value;
  }

  flag(): boolean {
    return this.read(1) === 1;
  }

  /** A number below `limit`, in as few bits as that needs (`ns(n)` of the AV1 specification). */
  below(limit: number): number {
    const width = 32 - Math.clz32(limit);
    const short = 2 ** width - limit;
    const value = this.read(width - 1);
    return value < short ? value : value * 2 - short + this.read(1);
  }
}

/** Writes bits, highest first, into bytes that are long enough. */
export class BitWriter {
  readonly #bytes: Uint8Array;
  readonly #start: number;
  #at: number;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#at = start * 8;
  }

  write(value: number, count: number): void {
    for (let left = count - 1; left >= 0; left -= 1) {
      const byte = this.#at >> 3;
      const mask = 0x80 >> (this.#at & 7);
      const isSet = Math.floor(value / 2 ** left) % 2 === 1;
      this.#bytes[byte] = isSet ? (this.#bytes[byte] ?? 0) | mask : (this.#bytes[byte] ?? 0) & ~mask;
      this.#at += 1;
    }
  }

  /** Zeros until the byte is full; how many bytes were written. */
  finish(): number {
    while ((this.#at & 7) !== 0) this.write(0, 1);
    return (this.#at >> 3) - this.#start;
  }
}
