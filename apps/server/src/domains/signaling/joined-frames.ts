import type { Joined, Participant, Track } from '@parley/contract';

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
/** Type, `more` or `from`, `ts`, commas and brackets around a list. */
export const frameOverhead = 256;

/** The list of `joined` in pieces that each fit a frame: the first goes with `joined`, the others follow. */
export function splitJoined(
  joined: Omit<Joined, 'participants' | 'more'>,
  participants: Participant[],
  frameBytesMax: number,
): Participant[][] {
  const room = frameBytesMax - frameOverhead;
  const first = room - sizeOf(joined);
  const pieces: Participant[][] = [[]];
  let left = first;
  for (const part of participants.flatMap((participant) => splitTracks(participant, room / 2))) {
    const size = sizeOf(part) + 1;
    if (size > left) {
      pieces.push([]);
      left = room;
    }
    pieces.at(-1)?.push(part);
    left -= size;
  }
  return pieces;
}

/** A participant with very many tracks appears more than once; each time with other tracks. */
export function splitTracks(participant: Participant, bytesMax: number): Participant[] {
  if (sizeOf(participant) <= bytesMax) return [participant];
  const bare = { ...participant, tracks: [] };
  const base = sizeOf(bare);
  const groups: Track[][] = [[]];
  let left = bytesMax - base;
  for (const track of participant.tracks) {
    const size = sizeOf(track) + 1;
    if (size > left && groups.at(-1)?.length) {
      groups.push([]);
      left = bytesMax - base;
    }
    groups.at(-1)?.push(track);
    left -= size;
  }
  return groups.map((tracks) => ({ ...bare, tracks }));
}
