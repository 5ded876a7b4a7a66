import type { Limits, Participant, RosterEntry } from '@parley/contract';
import type { MediaParticipantSnapshot, MediaResponses } from '@parley/contract/media-control';
import type { Clock } from '../../core/clock.ts';
import { frameText, type SocketFrame } from '../../core/socket.ts';
import type { Nodes } from '../fleet/index.ts';
import { type Rooms, toParticipant } from '../rooms/index.ts';
import { frameOverhead, splitTracks } from './joined-frames.ts';
import type { Member, RtcConnection } from './member.ts';

interface RosterDeps {
  clock: Clock;
  limits: Limits;
  nodes: Nodes;
  rooms: Rooms;
}

/** Of the hub's room: where it is. */
interface PlacedRoom {
  id: string;
  nodes: ReadonlySet<string>;
}

interface Page {
  participants: Participant[];
  frame: SocketFrame;
}

/** Who was in a room when its last event was `seq`. */
interface Roster {
  seq: number;
  pages: Page[];
}

/** Those who join within this time of one another get the same roster, and what has changed since as events. */
const keptMs = 2_000;
/** With more than this unsent the next page waits: a reader that is too slow would be cut off. */
const queuedBytesMax = 256 * 1024;
const pacedMs = 20;
/** For all pages together. */
const pagesMsMax = 15_000;
/** What a roster needs of a node. */
const membersOnly = { brief: true, withoutViewers: true };

/** The rosters of large rooms, each read from the store and the node once for all that join about then. */
export function createRosters({ clock, limits, nodes, rooms }: RosterDeps) {
  const bytesMax = limits.SIGNALING_MAX_MESSAGE_BYTES - frameOverhead;
  const kept = new WeakMap<object, { nodes: string; at: number; reading: Promise<Roster> }>();

  /** What the other nodes of the room hold. One that ends just now has nobody any more. */
  async function elsewhere(
    { id, nodes: names }: PlacedRoom,
    { serverName }: Member,
  ): Promise<MediaParticipantSnapshot[]> {
    const asked = [...names]
      .filter((name) => name !== serverName)
      .map((name) => nodes.command(name, 'snapshot', { room: id, ...membersOnly }).catch(() => ({ rooms: [] })));
    return (await Promise.all(asked)).flatMap(participantsIn);
  }

  async function read(room: PlacedRoom, member: Member): Promise<Roster> {
    const { session, serverName } = member;
    const { roomId } = session;
    // Read before the lists: what happens in between is sent twice, never left out.
    const { eventSeq } = await rooms.rooms.find(session, roomId);
    const [members, here, others] = await Promise.all([
      rooms.joinedMembers(roomId),
      nodes.command(serverName, 'snapshot', { room: roomId, ...membersOnly }),
      elsewhere(room, member),
    ]);
    const onNode = new Map([...participantsIn(here), ...others].map((one) => [one.participant, one]));
    const present = members.map((one) => toParticipant(one, onNode.get(one.id)));
    // Those who can be seen and heard come first.
    const ordered = [...present.filter(({ tracks }) => tracks.length > 0), ...present.filter(isSilent)];
    return { seq: eventSeq, pages: pagesOf(ordered) };
  }

  function pagesOf(participants: readonly Participant[]): Page[] {
    const parts = participants.flatMap((participant) => splitTracks(participant, bytesMax / 2));
    const lists = packFrames(parts, bytesMax, createEntryWriter);
    return lists.map(({ items, written }, index) => ({
      participants: items,
      frame: pageFrame(written, index < lists.length - 1),
    }));
  }

  const pageFrame = (participants: readonly object[], more: boolean): SocketFrame =>
    frameText(JSON.stringify({ type: 'roster', participants, more, ts: clock.now() }));

  function current(room: PlacedRoom, member: Member): Promise<Roster> {
    const known = kept.get(room);
    const now = clock.elapsed();
    // All nodes of the room are asked, wherever the member is.
    const names = [...new Set([...room.nodes, member.serverName])].sort().join(' ');
    if (known?.nodes === names && now - known.at <= keptMs) return known.reading;
    const reading = read(room, member);
    kept.set(room, { nodes: names, at: now, reading });
    reading.catch(() => kept.delete(room));
    return reading;
  }

  /** The others, in frames; events after `since` belong to it. */
  async function of(room: PlacedRoom, member: Member): Promise<{ since: number; frames: SocketFrame[] }> {
    const { seq, pages } = await current(room, member);
    const { identity } = member.session;
    const isOther = (one: Participant): boolean => one.identity !== identity;
    const frames = pages.map(({ participants, frame }, index) =>
      participants.every(isOther)
        ? frame
        : pageFrame(participants.filter(isOther).map(createEntryWriter()), index < pages.length - 1),
    );
    return { since: seq, frames };
  }

  return { of, elsewhere };
}

type PageReader = Pick<RtcConnection, 'isOpen' | 'queuedBytes' | 'write' | 'close'>;

/** Sends pages as fast as the client takes them; one that takes too long is closed, as any slow reader. */
export async function sendPages(clock: Clock, reader: PageReader, frames: readonly SocketFrame[]): Promise<void> {
  const deadline = clock.elapsed() + pagesMsMax;
  for (const frame of frames) {
    while (reader.isOpen && reader.queuedBytes > queuedBytesMax) {
      if (clock.elapsed() >= deadline) reader.close(4408, 'SLOW_CONSUMER');
      else await clock.sleep(pacedMs);
    }
    if (!reader.isOpen) return;
    reader.write(frame);
  }
}

const participantsIn = ({ rooms }: Pick<MediaResponses['snapshot'], 'rooms'>): MediaParticipantSnapshot[] =>
  rooms.flatMap(({ participants }) => participants);

const isSilent = ({ tracks }: Participant): boolean => tracks.length === 0;

/** Writes the participants of one frame: what is as of the one before is left out. */
export function createEntryWriter(): (participant: Participant) => RosterEntry {
  const before = new Map<string, string>();
  return ({ identity, sessionId, metadata, permissions, quality, tracks }) => {
    const shown = tracks.map(({ id, kind, source, name, metadata, muted }) => ({
      ...{ id, kind, source, name, metadata, muted },
    }));
    const fields = Object.entries({ metadata, permissions, quality, tracks: shown }).filter(([name, value]) => {
      const text = JSON.stringify(value);
      const isSame = before.get(name) === text;
      before.set(name, text);
      return !isSame;
    });
    return { identity, sessionId, ...Object.fromEntries(fields) };
  };
}

/** Items in pieces whose JSON fits; each piece has a writer of its own. An item alone always fits. */
export function packFrames<T, W extends object>(
  items: readonly T[],
  bytesMax: number,
  createWriter: () => (item: T) => W,
): { items: T[]; written: W[] }[] {
  const pieces: { items: T[]; written: W[] }[] = [];
  let write = createWriter();
  let left = 0;
  for (const item of items) {
    let one = write(item);
    let size = sizeOf(one);
    if (size > left) {
      pieces.push({ items: [], written: [] });
      write = createWriter();
      one = write(item);
      size = sizeOf(one);
      left = bytesMax;
    }
    left -= size;
    pieces.at(-1)?.items.push(item);
    pieces.at(-1)?.written.push(one);
  }
  return pieces;
}

const sizeOf = (value: object): number => Buffer.byteLength(JSON.stringify(value)) + 1;
