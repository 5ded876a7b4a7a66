import type { MediaParticipantSnapshot, MediaRoomSnapshot } from '@parley/contract/media-control';
import type { Log } from '../../core/log.ts';
import { MediaRefusal, type NodeHello, type Nodes } from '../fleet/index.ts';
import type { Hub } from './hub.ts';
import type { createMediaEvents } from './media-events.ts';
import type { Member } from './member.ts';

interface ReconcileDeps {
  log: Log;
  nodes: Nodes;
  hub: Hub;
  mediaEvents: ReturnType<typeof createMediaEvents>;
}

/**
 * A control connection came back and events of the node are lost: what it holds now is compared with what we knew.
 * Nothing is done for a node that restarted: its former rooms are moved as a whole.
 */
export function createReconcile({ log, nodes, hub, mediaEvents }: ReconcileDeps) {
  const instances = new Map<string, string>();
  /** Nodes that did not say what they hold: they are asked again with the next connection. */
  const unanswered = new Set<string>();

  async function compare(name: string, roomId: string, members: readonly Member[]): Promise<void> {
    const { rooms } = await nodes.command(name, 'snapshot', { room: roomId }).catch(asEmptySnapshot);
    const held = new Map(rooms.flatMap(({ participants }) => participants).map((one) => [one.participant, one]));
    for (const member of members) {
      // Still on the way in: the join itself finds out.
      if (member.backlog) continue;
      const media = held.get(member.session.id);
      if (media) replay(name, member, media);
      else mediaEvents.ended(member, 'MEDIA_FAILURE');
    }
  }

  function replay(name: string, member: Member, { identity, tracks }: MediaParticipantSnapshot): void {
    const { address } = member;
    let seq = 0;
    const receive = mediaEvents.receive;
    const there = new Set(tracks.map(({ id }) => id));
    for (const trackId of [...member.tracks.keys()]) {
      if (!there.has(trackId))
        receive(name, { seq: seq++, type: 'track.unpublished', data: { ...address, identity, trackId } });
    }
    for (const track of tracks) {
      receive(name, { seq: seq++, type: 'track.published', data: { ...address, identity, track } });
      const data = { ...address, identity, trackId: track.id, muted: track.muted, by: 'PUBLISHER' as const };
      receive(name, { seq: seq++, type: 'track.muted', data });
    }
  }

  return (name: string, { instanceId, resumed }: NodeHello): void => {
    const isSameInstance = instances.get(name) === instanceId;
    instances.set(name, instanceId);
    const isDue = unanswered.delete(name) || !resumed;
    if (!isDue || !isSameInstance) return;
    const rooms = [...hub.rooms()].map((room) => ({
      id: room.id,
      members: [...room.members.values()].filter(({ serverName }) => serverName === name),
    }));
    for (const { id, members } of rooms) {
      if (members.length > 0)
        compare(name, id, members).catch((error) => {
          unanswered.add(name);
          log.warn({ error, server: name, roomId: id }, 'room not compared');
        });
    }
  };
}

/** Of a room that the node does not know. From one that does not answer nobody is known to be gone. */
function asEmptySnapshot(error: unknown): { rooms: MediaRoomSnapshot[] } {
  if (error instanceof MediaRefusal && error.code === 'NOT_FOUND') return { rooms: [] };
  throw error;
}
