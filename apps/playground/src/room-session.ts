import { type Devices, Room } from '@parley/client';
import { Chat } from '@parley/client/chat';
import { backend } from './backend.ts';
import { identityOf } from './identity.ts';

/** One stay in a room: who one is there, the call, and the chat beside it. */
export interface RoomSession {
  identity: string;
  room: Room;
  chat: Chat;
  /** From now on tokens live 30 s. */
  shortenTokens(): void;
}

export function openSession(roomName: string, userName: string, devices: Devices): RoomSession {
  const identity = identityOf(userName);
  let ttlSeconds: number | undefined;
  return {
    identity,
    room: new Room({
      url: location.origin,
      devices,
      token: () => backend.rtcToken(roomName, identity, userName, ttlSeconds),
    }),
    chat: new Chat({ url: location.origin, token: () => backend.chatToken(roomName, identity) }),
    shortenTokens() {
      ttlSeconds = 30;
    },
  };
}
