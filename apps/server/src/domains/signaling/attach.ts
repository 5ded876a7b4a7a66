import type { MediaParticipantSnapshot } from '@parley/contract/media-control';
import type { Clock } from '../../core/clock.ts';
import { MediaRefusal, type Nodes } from '../fleet/index.ts';
import type { Rooms } from '../rooms/index.ts';
import type { Hub } from './hub.ts';
import type { HubRoom } from './hub-room.ts';
import type { Member } from './member.ts';

interface AttachDeps {
  clock: Clock;
  nodes: Nodes;
  rooms: Rooms;
  hub: Hub;
}

/** Takes up a session at its node, with what its token allows now. */
export function createAttach({ clock, nodes, rooms, hub }: AttachDeps) {
  /** Null when the node has lost the participant: then there is nothing to resume. */
  return async (room: HubRoom, member: Member, isAllowedOther: boolean): Promise<MediaParticipantSnapshot | null> => {
    const { permissions } = member.session;
    try {
      if (isAllowedOther)
        await nodes.command(member.serverName, 'participant.update', { ...member.address, permissions });
      const taken = { ...member.address, streamStates: true };
      const { participant } = await nodes.command(member.serverName, 'participant.attach', taken);
      for (const track of participant.tracks) member.tracks.set(track.id, track);
      return participant;
    } catch (error) {
      hub.remove(room, member);
      if (error instanceof MediaRefusal) {
        await rooms.departures.depart(member.session, room.id, { id: member.session.id }, 'MEDIA_FAILURE');
        return null;
      }
      await rooms.sweeps.markLost(member.session, clock.now());
      throw error;
    }
  };
}
