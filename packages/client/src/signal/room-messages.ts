import type { DisconnectReason } from '../errors.ts';

/** What only a room can say, and what to do about it. */
export const ROOM_MESSAGES: Partial<Record<DisconnectReason, string>> = {
  room_closed: 'The room was closed or does not exist. Create it again, or join another one.',
  duplicate_identity: 'The same identity joined from somewhere else. Give each tab or device its own.',
  removed: 'Your backend removed this participant from the room.',
  room_full: 'The room is full. Try later, or raise its `maxParticipants`.',
  node_lost: 'The media server went away, and no other could take the room. connect() again later.',
  no_media:
    'This network lets no media through. Open UDP to the media server, or TCP 3478 or 443 for its TURN relay. checkConnection() tells what works.',
};
