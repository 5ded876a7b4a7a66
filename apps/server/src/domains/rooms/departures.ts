import type { DisconnectReason } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { Nodes } from '../fleet/index.ts';
import type { RoomBus } from './room-bus.ts';
import { insertRoomEvents, type RoomEvent } from './room-event-store.ts';
import { lockRoom, releasePlaces, type StoredRoom } from './room-store.ts';
import { type EndMoment, type SessionChoice, type StoredSession, updateEnded } from './session-store.ts';

/** What ending some sessions changed: told to others after the commit. */
export interface Departure {
  room: StoredRoom;
  ended: StoredSession[];
  events: RoomEvent[];
}

/** The one way out of a room, for whatever reason and whoever asks: each session ends once. */
export interface Departures {
  /** Inside a transaction that holds the room's row. Call `announce` after the commit. */
  end(
    tx: Tx,
    room: StoredRoom,
    choice: SessionChoice,
    reason: DisconnectReason,
    moment?: EndMoment,
  ): Promise<Departure>;
  /** Tells the other processes, and the node. */
  announce(departure: Departure): void;
  /** The whole of it, in a transaction of its own. */
  depart(
    scope: ProjectScope,
    roomId: string,
    choice: SessionChoice,
    reason: DisconnectReason,
    moment?: EndMoment,
  ): Promise<StoredSession[]>;
}

export interface DepartureDeps {
  db: Db;
  clock: Clock;
  log: Log;
  nodes: Nodes;
  roomBus: RoomBus;
}

export function createDepartures({ db, clock, log, nodes, roomBus }: DepartureDeps): Departures {
  async function end(
    tx: Tx,
    room: StoredRoom,
    choice: SessionChoice,
    reason: DisconnectReason,
    moment?: EndMoment,
  ): Promise<Departure> {
    const now = iso(clock.now());
    const ended = await updateEnded(tx, room.id, choice, reason, moment ?? { at: now }, now);
    if (ended.length === 0) return { room, ended, events: [] };
    const viewers = ended.filter(({ kind }) => kind === 'VIEWER').length;
    await releasePlaces(tx, room.id, ended.length - viewers, viewers);
    const left = ended.filter(({ kind, joinedAt }) => kind === 'MEMBER' && joinedAt !== null);
    const events = await insertRoomEvents(
      tx,
      room.id,
      left.map(({ identity }) => ({ type: 'participant.left' as const, data: { identity, reason } })),
      now,
    );
    return { room, ended, events };
  }

  function announce({ room, ended, events }: Departure): void {
    for (const event of events) roomBus.publish(room.id, { is: 'event', event });
    const sessions = ended.flatMap(({ id, leftReason }) => (leftReason === null ? [] : [{ id, reason: leftReason }]));
    if (sessions.length > 0) roomBus.publish(room.id, { is: 'ended', sessions });
    for (const session of ended) void removeFromNode(room, session);
  }

  /** The process that holds the socket does the same; whoever of us is left alive is enough. */
  async function removeFromNode({ id, serverName }: StoredRoom, session: StoredSession): Promise<void> {
    const reason = session.leftReason ?? 'UNKNOWN';
    const server = session.serverName ?? serverName;
    if (server === null || reason === 'MEDIA_FAILURE') return;
    try {
      await nodes.command(server, 'participant.remove', { room: id, participant: session.id, reason });
    } catch (error) {
      log.warn({ error, server, roomId: id, sessionId: session.id }, 'participant not removed from the node');
    }
  }

  return {
    end,
    announce,
    async depart(scope, roomId, choice, reason, moment) {
      const departure = await db.transaction(async (tx) => {
        const room = await lockRoom(tx, scope, roomId);
        return room ? end(tx, room, choice, reason, moment) : null;
      });
      if (!departure) return [];
      announce(departure);
      return departure.ended;
    },
  };
}
