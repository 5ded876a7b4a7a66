import type { FrameFields, SignalingServerFrames } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Audience } from './changes.ts';

export type SpeakerUpdate = FrameFields<SignalingServerFrames['speakers']>['speakers'][number];

/** So many are said to speak in a room, the loudest; a media process says no more of its own either. */
const activeMax = 20;
/** Smaller changes of the level are not told. */
const levelStep = 0.1;
const everyMs = 500;
/** A node has the same rhythm, and neither its timer nor the way here is exact: such a frame is not held up. */
const slackMs = 100;
/** Who has left a room last: more than a node has not heard of yet. */
const goneMax = 1_000;

interface Voice {
  /** As their node said last. */
  said: SpeakerUpdate;
  node: string;
  /** As the room was told; null: it may have been told by another process. */
  told: SpeakerUpdate | null;
}

/** Who speaks in a room, by what all of its nodes say. */
export interface Speaking {
  /** By identity. Who is silent is left out once that was told. */
  readonly voices: Map<string, Voice>;
  /** A node may go on about them until it has heard that they left. */
  readonly gone: Set<string>;
  /** When the next frame is due; one that comes early makes none after it earlier. */
  dueAt: number;
  waiting: AbortController | null;
}

export const newSpeaking = (): Speaking => ({
  voices: new Map(),
  gone: new Set(),
  dueAt: Number.NEGATIVE_INFINITY,
  waiting: null,
});

/** What of a room is asked here. */
interface SpokenIn {
  readonly speaking: Speaking;
  readonly members: ReadonlyMap<string, { readonly serverName: string }>;
  readonly nodes: ReadonlySet<string>;
  readonly size: number;
}

interface SpeakersDeps<R> {
  clock: Clock;
  send: (room: R, speakers: SpeakerUpdate[], audience: Audience) => void;
}

/** Merges what the nodes and processes of a room say of who speaks: each knows its own people only. */
export function createSpeakers<R extends SpokenIn>({ clock, send }: SpeakersDeps<R>) {
  function flush(room: R): void {
    const { speaking, nodes } = room;
    dropUnreachable(room);
    const changed = takeChanges(speaking.voices);
    if (changed.length === 0) return;
    speaking.dueAt = Math.max(clock.elapsed(), speaking.dueAt) + everyMs;
    const byAudience = Map.groupBy(changed, ({ node }) => (nodes.has(node) ? null : node));
    for (const [audience, some] of byAudience)
      send(
        room,
        some.map(({ update }) => update),
        audience,
      );
  }

  function flushSoon(room: R): void {
    const { speaking } = room;
    if (speaking.waiting) return;
    const waitMs = speaking.dueAt - slackMs - clock.elapsed();
    if (waitMs <= 0) {
      flush(room);
      return;
    }
    const waiting = new AbortController();
    speaking.waiting = waiting;
    void clock.sleep(waitMs, waiting.signal).then(() => {
      if (waiting.signal.aborted) return;
      speaking.waiting = null;
      flush(room);
    });
  }

  return {
    hear(room: R, updates: readonly SpeakerUpdate[], node: string): void {
      const { voices, gone } = room.speaking;
      for (const said of updates) {
        const { identity, active } = said;
        const voice = voices.get(identity);
        if (voice) Object.assign(voice, { said, node });
        else if (!gone.has(identity)) voices.set(identity, { said, node, told: active ? silent(identity) : null });
      }
      boundVoices(room);
      flushSoon(room);
    },

    joined(room: R, identity: string): void {
      room.speaking.gone.delete(identity);
    },

    /** Clients forget them too; their place is for the next. */
    left(room: R, identity: string): void {
      const { voices, gone } = room.speaking;
      gone.add(identity);
      const [first] = gone;
      if (gone.size > goneMax && first !== undefined) gone.delete(first);
      if (voices.delete(identity)) flushSoon(room);
    },

    /** Nobody is here any more who could be told. */
    stop({ speaking }: R): void {
      speaking.waiting?.abort();
      speaking.waiting = null;
      speaking.voices.clear();
    },
  };
}

const silent = (identity: string): SpeakerUpdate => ({ identity, level: 0, active: false });

/** Of nodes whose events do not come here any more [FLEET-21]. */
function dropUnreachable({ speaking, nodes, members }: SpokenIn): void {
  const voices = [...speaking.voices];
  if (voices.every(([, { node }]) => nodes.has(node))) return;
  const here = new Set([...members.values()].map(({ serverName }) => serverName));
  for (const [identity, { node }] of voices) if (!nodes.has(node) && !here.has(node)) speaking.voices.delete(identity);
}

/** More names than the room has people are not theirs. Those who are said to speak are kept: they are few. */
function boundVoices({ speaking: { voices }, size }: SpokenIn): void {
  const tooMany = voices.size - size - activeMax;
  if (tooMany <= 0) return;
  const others = [...voices].filter(([, { told }]) => !told?.active);
  others.sort(([, a], [, b]) => a.said.level - b.said.level);
  for (const [identity] of others.slice(0, tooMany)) voices.delete(identity);
}

/** What the room has not been told, loudest first. */
function takeChanges(voices: Map<string, Voice>): { node: string; update: SpeakerUpdate }[] {
  const active = [...voices.values()].filter(({ said }) => said.active);
  const loudest = new Set(active.sort((a, b) => b.said.level - a.said.level).slice(0, activeMax));
  const changed: { node: string; update: SpeakerUpdate }[] = [];
  for (const [identity, voice] of voices) {
    const { said, told, node } = voice;
    if (!said.active) voices.delete(identity);
    const update = !said.active || loudest.has(voice) ? said : silent(identity);
    if (told?.active === update.active && Math.abs(update.level - told.level) < levelStep) continue;
    voice.told = update;
    changed.push({ node, update });
  }
  return changed.sort((a, b) => b.update.level - a.update.level);
}
