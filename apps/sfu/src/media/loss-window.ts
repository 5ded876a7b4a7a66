export interface PathLoss {
  expected: number;
  lost: number;
}

/** Fewer packets than this are no sample: one lost of five is not 20 %. */
const PACKETS_MIN = 100;
const MS_MIN = 1500;

/** Collects the losses of all streams of a transport until there are enough packets to judge. */
export class LossWindow {
  #expected = 0;
  #lost = 0;
  #since = 0;

  /** Share lost, 0-1, once there are enough packets; the window then starts over. */
  add({ expected, lost }: PathLoss, now: number): number | undefined {
    if (this.#expected === 0) this.#since = now;
    this.#expected += expected;
    this.#lost += lost;
    if (this.#expected < PACKETS_MIN || now - this.#since < MS_MIN) return undefined;
    const share = Math.max(0, Math.min(1, this.#lost / this.#expected));
    this.#expected = 0;
    this.#lost = 0;
    return share;
  }
}
