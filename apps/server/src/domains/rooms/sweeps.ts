import { type DisconnectReason, resumeWindowMs } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Watch } from '../fleet/index.ts';
import type { Departures } from './departures.ts';
import type { RoomBus } from './room-bus.ts';
import { deleteRoomEvents } from './room-event-store.ts';
import {
  listEnded,
  listRoomsWithLost,
  updateProcessLost,
  updateSignalFound,
  updateSignalLost,
} from './session-store.ts';

export interface SweepDeps {
  db: Db;
  clock: Clock;
  watch: Watch;
  departures: Departures;
  roomBus: RoomBus;
}

/** Longer than anybody may resume. */
const eventsKeptMs = 5 * 60_000;
/** Far enough back that no two looks leave a gap between them, whatever the clocks of the processes say. */
const lookBackMs = 30_000;

/** What becomes of those who do not say goodbye. All of it is conditional writes: any process may do it, or several. */
export function createSweeps({ db, clock, watch, departures, roomBus }: SweepDeps) {
  const sayLost = (roomId: string, identity: string): void =>
    roomBus.publish(roomId, {
      is: 'frame',
      to: null,
      type: 'quality',
      fields: { updates: [{ identity, quality: 'LOST', score: 0 }] },
    });

  return {
    /** The socket of a session of this process is gone. */
    async lose(session: { id: string; roomId: string; identity: string }, at: number): Promise<void> {
      if (await updateSignalLost(db, session.id, watch.processId, iso(at))) sayLost(session.roomId, session.identity);
    },

    /** Ends who did not come back in time; their minutes stop where the socket was lost. */
    async endLostSessions(): Promise<void> {
      const lostBefore = iso(clock.now() - resumeWindowMs);
      for (const room of await listRoomsWithLost(db, lostBefore)) {
        await departures.depart(room, room.id, { lostBefore }, 'CONNECTION_TIMEOUT', { signalLost: true });
      }
    },

    /** Sockets of a killed process are gone too, though nobody saw them close. */
    async markDeadProcessesLost(): Promise<void> {
      for (const { id, seenAt } of await watch.deadProcesses()) {
        for (const { roomId, identity, kind } of await updateProcessLost(db, id, seenAt)) {
          if (kind === 'MEMBER') sayLost(roomId, identity);
        }
      }
    },

    /** Sessions of this process that others ended: how a cut arrives when the bus does not carry it. */
    endedHere: (): Promise<{ id: string; roomId: string; reason: DisconnectReason }[]> =>
      listEnded(db, watch.processId, iso(clock.now() - lookBackMs)),

    /** This process was thought dead while these sockets were open. */
    found: (ids: readonly string[]): Promise<void> => updateSignalFound(db, watch.processId, ids),

    deleteOldEvents: (): Promise<number> => deleteRoomEvents(db, iso(clock.now() - eventsKeptMs)),
  };
}

export type Sweeps = ReturnType<typeof createSweeps>;
