import { type DisconnectReason, resumeWindowMs } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { deleteInBatches, type Turn } from '../../core/delete-in-batches.ts';
import type { Watch } from '../fleet/index.ts';
import type { Departures } from './departures.ts';
import { forEachRoom } from './each-room.ts';
import type { RoomChange, RoomRecord } from './room-change.ts';
import { deleteRoomEvents } from './room-event-store.ts';
import {
  hasLost,
  listEnded,
  listRoomsOfProcess,
  listRoomsWithLost,
  type StoredSession,
  updateProcessLost,
  updateSignalFound,
  updateSignalLost,
} from './session-store.ts';

interface SweepDeps {
  db: Db;
  clock: Clock;
  watch: Watch;
  departures: Departures;
  roomChange: RoomChange;
}

/** Longer than a session can be resumed. */
const eventsKeptMs = 5 * 60_000;
/** Far enough back that no two looks leave a gap between them, whatever the clocks of the processes say. */
const lookBackMs = 30_000;

/** Ends sessions whose socket is gone for good. All of it is conditional writes: any process may do it, or several. */
export function createSweeps({ db, clock, watch, departures, roomChange }: SweepDeps) {
  const announceLost = (record: RoomRecord, identity: string): void =>
    record.message({
      is: 'frame',
      to: null,
      type: 'quality',
      fields: { updates: [{ identity, quality: 'LOST', score: 0 }] },
    });

  const lostBefore = (): string => iso(clock.now() - resumeWindowMs);

  return {
    /** The socket of a session of this process is gone. */
    async markLost(session: StoredSession, at: number): Promise<void> {
      const { id, roomId, identity } = session;
      await roomChange(session, roomId, async (tx, record) => {
        if (await updateSignalLost(tx, id, watch.processId, iso(at))) announceLost(record, identity);
      });
    },

    /** Ends who did not come back in time; their minutes stop where the socket was lost. */
    async endLostSessions(): Promise<void> {
      const before = lostBefore();
      await forEachRoom(await listRoomsWithLost(db, before), (room) =>
        departures.depart(room, room.id, { lostBefore: before }, 'CONNECTION_TIMEOUT', { signalLost: true }),
      );
    },

    hasLostSessions: () => hasLost(lostBefore()),

    /** The sockets of a killed process are gone too, without a close. */
    async markDeadProcessesLost(): Promise<void> {
      for (const { id, seenAt } of await watch.deadProcesses()) {
        await forEachRoom(await listRoomsOfProcess(db, id), (room) =>
          roomChange(room, room.id, async (tx, record) => {
            for (const { identity, kind } of await updateProcessLost(tx, room.id, id, seenAt)) {
              if (kind === 'MEMBER') announceLost(record, identity);
            }
          }),
        );
      }
    },

    /** Sessions of this process that others ended: how a cut arrives when the bus does not carry it. */
    endedHere: (): Promise<{ id: string; roomId: string; reason: DisconnectReason }[]> =>
      listEnded(db, watch.processId, iso(clock.now() - lookBackMs)),

    /** This process was thought dead while these sockets were open. */
    found: (ids: readonly string[]): Promise<void> => updateSignalFound(db, watch.processId, ids),

    deleteOldEvents(turn: Turn): Promise<number> {
      const before = iso(clock.now() - eventsKeptMs);
      return deleteInBatches({ turn }, (limit) => deleteRoomEvents(db, before, limit));
    },
  };
}
