/** Who speaks, from the audio-level header extension (RFC 6464): 0 is loudest, 127 silence. */
export const SPEECH_LEVEL_MAX = 45;
/** Share of an interval's packets that must be speech before a participant counts as speaking. */
const SPEECH_SHARE = 0.3;
/** In a large room only so many are said to speak, the loudest. */
const ACTIVE_MAX = 20;
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
    const heard = [...this.#voices].map(([identity, voice]) => takeSpeaker(identity, voice));
    const loudest = new Set(heard.toSorted((a, b) => b.level - a.level).slice(0, ACTIVE_MAX));
    for (const one of heard) {
      const { identity, voice } = one;
      const { announced } = voice;
      const level = loudest.has(one) ? one.level : 0;
      const active = level > 0;
      if (active === announced.active && Math.abs(level - announced.level) < LEVEL_STEP) continue;
      voice.announced = { identity, level, active };
      changes.push(voice.announced);
    }
    return changes.sort((a, b) => b.level - a.level);
  }
}

/** How loud somebody was since the last time; 0 for who did not speak. */
function takeSpeaker(identity: string, voice: Voice): { identity: string; voice: Voice; level: number } {
  const { packets, speech, sum } = voice;
  Object.assign(voice, { packets: 0, speech: 0, sum: 0 });
  const isActive = packets > 0 && speech / packets >= SPEECH_SHARE;
  return { identity, voice, level: isActive ? Math.max(0.001, Math.round((sum / speech) * 1000) / 1000) : 0 };
}
