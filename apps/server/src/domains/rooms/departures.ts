import type { DisconnectReason } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { RoomChange, RoomRecord } from './room-change.ts';
import { type RoomTx, releasePlaces } from './room-store.ts';
import { type EndMoment, type SessionChoice, type StoredSession, updateEnded } from './session-store.ts';

interface DepartureDeps {
  clock: Clock;
  roomChange: RoomChange;
}

export type Departures = ReturnType<typeof createDepartures>;

/** The one way out of a room, for every reason: each session ends once. */
export function createDepartures({ clock, roomChange }: DepartureDeps) {
  /** Ends sessions as a part of a larger change. */
  async function end(
    tx: RoomTx,
    record: RoomRecord,
    roomId: string,
    choice: SessionChoice,
    reason: DisconnectReason,
    moment?: EndMoment,
  ): Promise<StoredSession[]> {
    const now = iso(clock.now());
    const ended = await updateEnded(tx, roomId, choice, reason, moment ?? { at: now }, now);
    if (ended.length === 0) return ended;
    const viewers = ended.filter(({ kind }) => kind === 'VIEWER').length;
    await releasePlaces(tx, roomId, ended.length - viewers, viewers);
    for (const { kind, joinedAt, identity } of ended) {
      if (kind === 'MEMBER' && joinedAt !== null)
        record.event({ type: 'participant.left', data: { identity, reason } });
    }
    record.ended(ended);
    return ended;
  }

  /** Ends sessions in a change of their own. */
  const depart = (
    scope: ProjectScope,
    roomId: string,
    choice: SessionChoice,
    reason: DisconnectReason,
    moment?: EndMoment,
  ): Promise<StoredSession[]> =>
    roomChange(scope, roomId, (tx, record) => end(tx, record, roomId, choice, reason, moment));

  return { end, depart };
}
