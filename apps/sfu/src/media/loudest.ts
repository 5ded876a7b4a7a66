import { SPEECH_LEVEL_MAX } from './speakers.ts';

/** In a room with more than this not everybody is heard at once. */
const LARGE_ROOM = 50;
const LOUDEST = 3;
/** Who was among the loudest is heard for so long after: nobody is cut off within a sentence. */
const HOLD_MS = 2000;
/** With those, so many at once. */
const AUDIBLE_MAX = 6;
/** A pause between words. */
const PAUSE_MS = 500;
/** To take the place of a speaker one has to be this much louder. */
const KEPT_SHARE = 1.5;
const SELECT_MS = 100;
/** Share of the newest packet in the loudness: some 200 ms of speech. */
const NEWEST_SHARE = 0.1;

/** How loud a microphone is, by its packets. */
export class Voice {
  /** False without the audio-level extension: nobody can say who is louder, so it is always heard. */
  isMeasured = false;
  loudness = 0;
  spokeAt = Number.NEGATIVE_INFINITY;
  /** When it was last among the loudest. */
  chosenAt = Number.NEGATIVE_INFINITY;

  /** RFC 6464: 0 is loudest, 127 silence. */
  hear(level: number, now: number): void {
    this.isMeasured = true;
    const isSpeech = level <= SPEECH_LEVEL_MAX;
    if (isSpeech) this.spokeAt = now;
    this.loudness += NEWEST_SHARE * ((isSpeech ? 10 ** (-level / 20) : 0) - this.loudness);
  }
}

/** What is forwarded, or not, by its voice; a `Publication` of a microphone. */
export interface Voiced {
  readonly voice: Voice | undefined;
  isAudible: boolean;
  readonly subscriptions: readonly { restart(): void }[];
}

/** Which microphones of a large room are forwarded: the loudest three, and who was among them a moment ago. */
export class Loudest<T extends Voiced = Voiced> {
  /** Track → who publishes it. */
  readonly #voiced = new Map<T, string>();
  readonly #voices = new Map<string, Voice>();
  #selectedAt = Number.NEGATIVE_INFINITY;

  add(track: T, owner: string): void {
    if (!track.voice) return;
    this.#voiced.set(track, owner);
    this.#voices.set(owner, track.voice);
  }

  delete(track: T): void {
    const owner = this.#voiced.get(track) ?? '';
    this.#voiced.delete(track);
    if (this.#voices.get(owner) === track.voice) this.#voices.delete(owner);
  }

  /** When this participant was last heard to speak. */
  spokeAt(owner: string): number {
    return this.#voices.get(owner)?.spokeAt ?? Number.NEGATIVE_INFINITY;
  }

  /** Call it every 20 ms, with the number of people in the room. */
  tick(now: number, people: () => number): void {
    if (now - this.#selectedAt < SELECT_MS) return;
    const before = this.#selectedAt;
    this.#selectedAt = now;
    if (this.#voiced.size > LOUDEST && people() > LARGE_ROOM) this.#select(now, before);
    else for (const track of this.#voiced.keys()) setAudible(track, true);
  }

  #select(now: number, before: number): void {
    const voices = [...this.#voiced.keys()].flatMap(({ voice }) => (voice?.isMeasured ? [voice] : []));
    const rank = ({ loudness, chosenAt }: Voice): number => loudness * (chosenAt === before ? KEPT_SHARE : 1);
    const speaking = voices.filter(({ spokeAt }) => now - spokeAt < PAUSE_MS).sort((a, b) => rank(b) - rank(a));
    for (const voice of speaking.slice(0, LOUDEST)) voice.chosenAt = now;
    const audible = voices
      .filter(({ chosenAt }) => now - chosenAt < HOLD_MS)
      .sort((a, b) => b.chosenAt - a.chosenAt)
      .slice(0, AUDIBLE_MAX);
    for (const track of this.#voiced.keys())
      if (track.voice) setAudible(track, !track.voice.isMeasured || audible.includes(track.voice));
  }
}

/** The numbers that subscribers get go on where they ended. */
function setAudible(track: Voiced, isAudible: boolean): void {
  if (track.isAudible === isAudible) return;
  track.isAudible = isAudible;
  if (isAudible) for (const subscription of track.subscriptions) subscription.restart();
}
