import type { LegChoice } from './leg-messages.ts';
import type { PipePeer } from './pipe-peer.ts';

/** Said again after this long, for who has joined meanwhile. */
const REPEAT_MS = 500;
/** Without a word from the process that leads the next one does. */
const SILENT_MS = 1500;

/** Who is heard in a large room, as one of its processes chooses for all: the one that has had the room longest. */
export class SharedChoice {
  readonly #rank: string;
  readonly #heard = new Map<PipePeer, { choice: LegChoice; at: number | undefined }>();
  #told = { tracks: '', at: Number.NEGATIVE_INFINITY };

  /** `name`: of two that had the room at the same moment the lower one leads. */
  constructor(since: number, name: string) {
    this.#rank = `${String(since).padStart(15, '0')} ${name}`;
  }

  onChoice(choice: LegChoice, peer: PipePeer): void {
    this.#heard.set(peer, { choice, at: undefined });
  }

  forget(peer: PipePeer): void {
    this.#heard.delete(peer);
  }

  /** What this process is to follow; undefined: it chooses itself. `isDeaf`: it does not hear everybody. */
  leading(now: number, isDeaf: boolean): readonly string[] | undefined {
    let first: LegChoice | undefined;
    for (const heard of this.#heard.values()) {
      heard.at ??= now;
      if (now - heard.at < SILENT_MS && heard.choice.rank < (first?.rank ?? (isDeaf ? '~' : this.#rank)))
        first = heard.choice;
    }
    return first?.tracks;
  }

  /** Of the tracks chosen here, what the others are to be told; undefined while they know it. */
  takeDue(chosen: readonly string[], now: number): LegChoice | undefined {
    const tracks = chosen.join(' ');
    if (tracks === this.#told.tracks && now - this.#told.at < REPEAT_MS) return undefined;
    this.#told = { tracks, at: now };
    return { rank: this.#rank, tracks: [...chosen] };
  }
}
