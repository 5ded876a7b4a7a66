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
/** Who speaks for so long without a place gets a turn: levels are what senders say of themselves. */
const WAIT_MS = 2000;
const TURN_MS = 5000;
/** Close to a good microphone; one who claims to be louder is no louder than this. */
const LEVEL_MIN = 15;
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

  /** RFC 6464: 0 is loudest, 127 silence. */
  hear(level: number, now: number): void {
    this.isMeasured = true;
    const isSpeech = level <= SPEECH_LEVEL_MAX;
    if (isSpeech) this.spokeAt = now;
    this.loudness += NEWEST_SHARE * ((isSpeech ? 10 ** (-Math.max(level, LEVEL_MIN) / 20) : 0) - this.loudness);
  }
}

/** What is forwarded, or not, by its voice; a `Publication` of a microphone. */
export interface Voiced {
  readonly id: string;
  readonly voice: Voice | undefined;
  isAudible: boolean;
  readonly subscriptions: readonly { restart(): void }[];
}

/** Other processes of the room: one leads, so that all forward the same. */
interface OtherChoices {
  leadingChoice(now: number): readonly string[] | undefined;
  announceChoice(tracks: readonly string[], now: number): void;
}

const noOthers: OtherChoices = { leadingChoice: () => undefined, announceChoice() {} };

/** A participant, however many microphones they publish. */
class Speaker<T extends Voiced> {
  readonly owner: string;
  readonly tracks = new Set<T>();
  /** The microphone that is heard when they are. */
  current: T | undefined;
  /** When they were last among the chosen, and since when they are. */
  chosenAt = Number.NEGATIVE_INFINITY;
  chosenSince = 0;
  /** Since when they speak without being chosen. */
  waitsSince: number | undefined;

  constructor(owner: string) {
    this.owner = owner;
  }

  get spokeAt(): number {
    return Math.max(...[...this.tracks].map(({ voice }) => voice?.spokeAt ?? Number.NEGATIVE_INFINITY));
  }

  get loudness(): number {
    return this.current?.voice?.loudness ?? 0;
  }

  pickLoudest(): void {
    if (this.current && !this.tracks.has(this.current)) this.current = undefined;
    for (const track of this.tracks)
      if (track.voice?.isMeasured && (!this.current || track.voice.loudness > this.loudness * KEPT_SHARE))
        this.current = track;
  }

  /** The microphone that is one of these; false when none is. */
  pick(ids: readonly string[]): boolean {
    const picked = [...this.tracks].find(({ id }) => ids.includes(id));
    if (picked) this.current = picked;
    return picked !== undefined;
  }

  choose(now: number, before: number): void {
    if (this.chosenAt !== before) this.chosenSince = now;
    this.chosenAt = now;
    this.waitsSince = undefined;
  }

  /** Pauses between sentences do not end the wait. */
  wait(now: number): void {
    if (now - this.spokeAt >= HOLD_MS) this.waitsSince = undefined;
    else this.waitsSince ??= now;
  }
}

/** Which microphones of a large room are forwarded: the loudest three, and who was among them a moment ago. */
export class Loudest<T extends Voiced = Voiced> {
  /** Track → who publishes it. */
  readonly #voiced = new Map<T, string>();
  readonly #speakers = new Map<string, Speaker<T>>();
  /** More people than may be heard at once. */
  isLarge = false;
  #selectedAt = Number.NEGATIVE_INFINITY;
  /** One place at a time goes to who has waited, until then. */
  #turn: { speaker: Speaker<T>; until: number } | undefined;

  add(track: T, owner: string): void {
    if (!track.voice) return;
    const speaker = this.#speakers.get(owner) ?? new Speaker<T>(owner);
    speaker.tracks.add(track);
    this.#voiced.set(track, owner);
    this.#speakers.set(owner, speaker);
  }

  delete(track: T): void {
    const owner = this.#voiced.get(track) ?? '';
    const tracks = this.#speakers.get(owner)?.tracks;
    this.#voiced.delete(track);
    tracks?.delete(track);
    if (tracks?.size === 0) this.#speakers.delete(owner);
  }

  /** When this participant was last heard to speak. */
  spokeAt(owner: string): number {
    return this.#speakers.get(owner)?.spokeAt ?? Number.NEGATIVE_INFINITY;
  }

  /** Call it every 20 ms, with the number of people in the room. */
  tick(now: number, people: () => number, others: OtherChoices = noOthers): void {
    if (now - this.#selectedAt < SELECT_MS) return;
    const before = this.#selectedAt;
    this.#selectedAt = now;
    this.isLarge = people() > LARGE_ROOM;
    if (this.#voiced.size > LOUDEST && this.isLarge) this.#select(now, before, others);
    else for (const track of this.#voiced.keys()) setAudible(track, true);
  }

  #select(now: number, before: number, others: OtherChoices): void {
    const speakers = [...this.#speakers.values()];
    for (const speaker of speakers) speaker.pickLoudest();
    const lead = others.leadingChoice(now);
    const chosen = lead ? this.#follow(lead, speakers, now, before) : this.#choose(speakers, now, before);
    const tracks = chosen.flatMap(({ current }) => current?.id ?? []);
    if (!lead) others.announceChoice(tracks, now);
    for (const speaker of speakers)
      if (chosen.includes(speaker)) speaker.choose(now, before);
      else speaker.wait(now);
    const audible = speakers
      .filter(({ chosenAt }) => now - chosenAt < HOLD_MS)
      .sort((a, b) => b.chosenAt - a.chosenAt || byOwner(a, b))
      .slice(0, AUDIBLE_MAX)
      .map(({ current }) => current);
    for (const track of this.#voiced.keys()) setAudible(track, !track.voice?.isMeasured || audible.includes(track));
  }

  /** Who speaks, loudest first. */
  #speaking(speakers: readonly Speaker<T>[], now: number, before: number): Speaker<T>[] {
    const rank = ({ loudness, chosenAt }: Speaker<T>): number => loudness * (chosenAt === before ? KEPT_SHARE : 1);
    return speakers
      .filter(({ current, spokeAt }) => current && now - spokeAt < PAUSE_MS)
      .sort((a, b) => rank(b) - rank(a) || byOwner(a, b));
  }

  /** While there is a place, who begins to speak need not wait until the other process has heard it. */
  #follow(lead: readonly string[], speakers: readonly Speaker<T>[], now: number, before: number): Speaker<T>[] {
    this.#turn = undefined;
    const led = speakers.filter((speaker) => speaker.pick(lead));
    const others = this.#speaking(speakers, now, before).filter((speaker) => !led.includes(speaker));
    return [...led, ...others.slice(0, Math.max(0, LOUDEST - led.length))];
  }

  #choose(speakers: readonly Speaker<T>[], now: number, before: number): Speaker<T>[] {
    const speaking = this.#speaking(speakers, now, before);
    const turn = this.#turn?.speaker;
    if (turn && now < (this.#turn?.until ?? 0) && speaking.includes(turn))
      return [turn, ...speaking.filter((speaker) => speaker !== turn).slice(0, LOUDEST - 1)];
    this.#turn = undefined;
    const loudest = speaking.slice(0, LOUDEST);
    const waiting = speaking.slice(LOUDEST).filter(({ waitsSince = now }) => now - waitsSince >= WAIT_MS);
    const [next] = waiting.sort((a, b) => (a.waitsSince ?? now) - (b.waitsSince ?? now));
    if (!next) return loudest;
    this.#turn = { speaker: next, until: now + TURN_MS };
    // Who has held a place longest yields it; they get another one back at once by being clearly louder.
    const [, ...kept] = loudest.sort((a, b) => a.chosenSince - b.chosenSince);
    return [next, ...kept];
  }
}

/** Of two that are alike every process takes the same. */
const byOwner = (a: { owner: string }, b: { owner: string }): number => (a.owner < b.owner ? -1 : 1);

/** The numbers that subscribers get go on where they ended. */
function setAudible(track: Voiced, isAudible: boolean): void {
  if (track.isAudible === isAudible) return;
  track.isAudible = isAudible;
  if (isAudible) for (const subscription of track.subscriptions) subscription.restart();
}
