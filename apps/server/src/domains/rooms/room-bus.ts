import type { DisconnectReason, RpcError } from '@parley/contract';
import type { Bus, Unsubscribe } from '../../core/ports.ts';
import type { RoomEvent } from './room-event-store.ts';

/** What the processes that serve a room tell one another. Nothing here is the only copy of anything that must last. */
export type RoomMessage =
  /** A recorded event; whoever misses one reads it from the store. */
  | { is: 'event'; event: RoomEvent }
  /** These sessions are over in the store. */
  | { is: 'ended'; sessions: { id: string; reason: DisconnectReason }[] }
  /** The socket of this session is at that process now. */
  | { is: 'moved'; sessionId: string; processId: string }
  /** What a participant answered to another's question. */
  | { is: 'rpcAnswer'; requestId: string; from: string; payload: string | null; error: RpcError | null }
  /** A frame for some identities, or for everybody. */
  | { is: 'frame'; to: readonly string[] | null; type: string; fields: Record<string, unknown> };

export interface RoomBus {
  publish(roomId: string, message: RoomMessage): void;
  subscribe(roomId: string, listener: (message: RoomMessage) => void): Promise<Unsubscribe>;
  /** Messages may have been lost; see Bus. */
  onGap(listener: () => void): Unsubscribe;
}

interface Envelope {
  from: string;
  message: RoomMessage;
}

/** This process hears its own messages at once, so that it serves its own participants also without the shared bus. */
export function createRoomBus({ bus, processId }: { bus: Bus; processId: string }): RoomBus {
  const own = new Map<string, Set<(message: RoomMessage) => void>>();
  const topicOf = (roomId: string): string => `rooms/${roomId}`;

  return {
    publish(roomId, message) {
      for (const listener of [...(own.get(roomId) ?? [])]) listener(message);
      bus.publish(topicOf(roomId), { from: processId, message } satisfies Envelope);
    },
    async subscribe(roomId, listener) {
      const listeners = own.get(roomId) ?? new Set();
      own.set(roomId, listeners.add(listener));
      const unsubscribe = await bus.subscribe(topicOf(roomId), (envelope) => {
        // Only our own processes publish here.
        const { from, message } = envelope as Envelope;
        if (from !== processId) listener(message);
      });
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) own.delete(roomId);
        unsubscribe();
      };
    },
    onGap: (listener) => bus.onGap(listener),
  };
}
