import type { DisconnectReason, FrameFields, RpcError, SignalingServerFrames } from '@parley/contract';
import type { Bus, Unsubscribe } from '../../core/ports.ts';
import type { RoomEvent } from './room-event-store.ts';

/** What the processes that serve a room publish to one another. Nothing here is the only copy of anything that must last. */
export type RoomMessage =
  /** A recorded event; a process that misses one reads it from the store. */
  | { is: 'event'; event: RoomEvent }
  /** These sessions are over in the store. */
  | { is: 'ended'; sessions: { id: string; reason: DisconnectReason }[] }
  /** The room is on a further node: each process has to ask it to be told of the room. */
  | { is: 'spread' }
  /** The socket of this session is at that process now. */
  | { is: 'moved'; sessionId: string; processId: string }
  /** What a participant answered to another's question. */
  | { is: 'rpcAnswer'; requestId: string; from: string; payload: string | null; error: RpcError | null }
  /** A frame for some identities, or for all. */
  | RoomFrame;

type Addressed<K extends keyof SignalingServerFrames> = {
  is: 'frame';
  to: readonly string[] | null;
  type: K;
  fields: FrameFields<SignalingServerFrames[K]>;
};
export type RoomFrame = { [K in keyof SignalingServerFrames]: Addressed<K> }[keyof SignalingServerFrames];

export interface RoomBus {
  publish(roomId: string, message: RoomMessage): void;
  subscribe(roomId: string, listener: (message: RoomMessage) => void): Promise<Unsubscribe>;
  /** Messages may have been lost; see Bus. */
  onGap(listener: () => void): Unsubscribe;
}

/** The bus with the type of what rooms put on it. */
export function createRoomBus({ bus }: { bus: Bus }): RoomBus {
  const topicOf = (roomId: string): string => `rooms/${roomId}`;
  return {
    publish: (roomId, message) => bus.publish(topicOf(roomId), message),
    // Only our own processes publish here.
    subscribe: (roomId, listener) => bus.subscribe(topicOf(roomId), (message) => listener(message as RoomMessage)),
    onGap: (listener) => bus.onGap(listener),
  };
}
