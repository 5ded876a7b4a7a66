import type { Log } from '../../core/log.ts';
import type { Rooms } from '../rooms/index.ts';
import type { HubRoom } from './hub-room.ts';

export type FollowNodes = (room: HubRoom) => void;

/** Each process asks the nodes of its rooms to be told of them: where it placed nobody itself, it has to look which they are. */
export const createFollowNodes =
  ({ log, rooms }: { log: Log; rooms: Rooms }): FollowNodes =>
  (room) => {
    if (room.members.size === 0) return;
    rooms.followNodes(room.id).then(
      (names) => {
        room.nodes = new Set(names);
      },
      (error) => log.warn({ error, roomId: room.id }, 'not all nodes of the room are heard yet'),
    );
  };
