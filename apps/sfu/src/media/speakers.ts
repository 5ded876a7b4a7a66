/** Who speaks, from the audio-level header extension (RFC 6464): 0 is loudest, 127 silence. */
const SPEECH_LEVEL_MAX = 45;
/** Share of an interval's packets that must be speech before a participant counts as speaking. */
const SPEECH_SHARE = 0.3;
/** Smaller changes of the level are not announced. */
const LEVEL_STEP = 0.1;

interface Speaker {
  identity: string;
  /** 0-1, linear. */
  level: number;
  active: boolean;
}

interface Voice {
  packets: number;
  speech: number;
  sum: number;
  announced: Speaker;
}

export class Speakers {
  readonly #voices = new Map<string, Voice>();

  addLevel(identity: string, level: number): void {
    let voice = this.#voices.get(identity);
    if (!voice) {
      voice = { packets: 0, speech: 0, sum: 0, announced: { identity, level: 0, active: false } };
      this.#voices.set(identity, voice);
    }
    voice.packets += 1;
    if (level > SPEECH_LEVEL_MAX) return;
    voice.speech += 1;
    voice.sum += 10 ** (-level / 20);
  }

  forget(identity: string): void {
    this.#voices.delete(identity);
  }

  /** Those whose state changed since the last call; call it every 500 ms. */
  takeChanges(): Speaker[] {
    const changes: Speaker[] = [];
    for (const [identity, voice] of this.#voices) {
      const active = voice.packets > 0 && voice.speech / voice.packets >= SPEECH_SHARE;
      const level = active ? Math.round((voice.sum / voice.speech) * 1000) / 1000 : 0;
      voice.packets = 0;
      voice.speech = 0;
      voice.sum = 0;
      const { announced } = voice;
      if (active === announced.active && Math.abs(level - announced.level) < LEVEL_STEP) continue;
      voice.announced = { identity, level, active };
      changes.push(voice.announced);
    }
    return changes.sort((a, b) => b.level - a.level);
  }
}
