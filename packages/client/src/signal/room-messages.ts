import type { DisconnectReason } from '../errors.ts';

/** What only a room can say, and what to do about it. */
export const ROOM_MESSAGES: Partial<Record<DisconnectReason, string>> = {
  room_closed: 'The room is closed or unknown.',
  duplicate_identity: 'This identity joined elsewhere. Give each tab its own.',
  removed: 'Your backend removed this participant.',
  room_full: 'The room is full: see its `maxParticipants`.',
  node_lost: 'The media server is gone. connect() again later.',
  no_media: 'This network lets no media through. Open UDP to the media server, or TCP 3478 or 443.',
};
