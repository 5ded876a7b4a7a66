import { fail } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Changes } from '../../core/changes.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { Nodes } from '../fleet/index.ts';
import type { RoomBus, RoomMessage } from './room-bus.ts';
import { insertRoomEvents, type RoomEvent } from './room-event-store.ts';
import { lockRoom, type RoomTx, type StoredRoom } from './room-store.ts';
import type { StoredSession } from './session-store.ts';

/** Collects what a change has to announce. It is numbered in the transaction and published after the commit. */
export interface RoomRecord {
  /** For all participants, also for those who have to catch up. */
  event(event: Omit<RoomEvent, 'seq'>): void;
  /** These sessions are over: the process that has the socket closes it, and the node removes the participant. */
  ended(sessions: readonly StoredSession[]): void;
  /** Not stored: a process that misses it does without. */
  message(message: Extract<RoomMessage, { is: 'moved' | 'frame' }>): void;
}

/**
 * The one way to change who is in a room, where it is or whether it is open: locks its row, runs `work`, numbers what it
 * recorded, commits, and publishes. What writes that asks for a `RoomTx`, which nothing else gives out, so a change
 * cannot go unannounced. Two writes do without, and no event tells of them: which conversation a room has is part of
 * chat's own transaction (`updateRoomLinks`), and that a socket which was thought lost is here takes back only what a
 * process said of another (`updateSignalFound`).
 */
export type RoomChange = <T>(
  scope: ProjectScope,
  roomId: string,
  work: (tx: RoomTx, record: RoomRecord, room: StoredRoom) => Promise<T>,
) => Promise<T>;

interface RoomChangeDeps {
  db: Db;
  clock: Clock;
  log: Log;
  changes: Changes;
  nodes: Nodes;
  roomBus: RoomBus;
}

export function createRoomChange({ db, clock, log, changes, nodes, roomBus }: RoomChangeDeps): RoomChange {
  const roomChange: RoomChange = async (scope, roomId, work) => {
    const { result, publish } = await db.transaction(async (tx) => {
      const { room, tx: held } = (await lockRoom(tx, scope, roomId)) ?? fail('SVC_ROOM_NOT_FOUND');
      const drafts: Omit<RoomEvent, 'seq'>[] = [];
      const ended: StoredSession[] = [];
      const messages: RoomMessage[] = [];
      const record: RoomRecord = {
        event: (event) => void drafts.push(event),
        ended: (sessions) => void ended.push(...sessions),
        message: (message) => void messages.push(message),
      };
      const done = await work(held, record, room);
      const events = await insertRoomEvents(held, roomId, drafts, iso(clock.now()));
      return { result: done, publish: () => announce(room, events, ended, messages) };
    });
    publish();
    changes.note('rooms', scope);
    return result;
  };

  function announce(
    room: StoredRoom,
    events: readonly RoomEvent[],
    ended: readonly StoredSession[],
    messages: readonly RoomMessage[],
  ): void {
    for (const event of events) roomBus.publish(room.id, { is: 'event', event });
    const sessions = ended.flatMap(({ id, leftReason }) => (leftReason === null ? [] : [{ id, reason: leftReason }]));
    if (sessions.length > 0) roomBus.publish(room.id, { is: 'ended', sessions });
    for (const message of messages) roomBus.publish(room.id, message);
    for (const session of ended) void removeFromNode(room, session);
  }

  /** The process that has the socket does the same; one of them may have died. */
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

  return roomChange;
}
