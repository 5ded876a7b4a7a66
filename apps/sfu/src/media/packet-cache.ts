/** The last packets of one stream by sequence number, for retransmission. Keeps the buffers themselves, no copies. */
export class PacketCache {
  readonly #slots: (Buffer | undefined)[];
  readonly #sequences: Uint16Array;
  readonly #mask: number;

  /** `size` is a power of two. */
  constructor(size: number) {
    this.#slots = new Array<Buffer | undefined>(size).fill(undefined);
    this.#sequences = new Uint16Array(size);
    this.#mask = size - 1;
  }

  put(sequence: number, packet: Buffer): void {
    const slot = sequence & this.#mask;
    this.#slots[slot] = packet;
    this.#sequences[slot] = sequence;
  }

  get(sequence: number): Buffer | undefined {
    const slot = sequence & this.#mask;
    return this.#sequences[slot] === sequence ? this.#slots[slot] : undefined;
  }

  clear(): void {
    this.#slots.fill(undefined);
  }
}
