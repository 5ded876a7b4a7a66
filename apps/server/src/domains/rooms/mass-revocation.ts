import type { Environment } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Departures } from './departures.ts';
import { forEachRoom } from './each-room.ts';
import type { RoomChange } from './room-change.ts';
import { listRoomsOfTokens, type TokenChoice, updateTokensRevoked } from './rtc-token-store.ts';

interface MassRevocationDeps {
  db: Db;
  clock: Clock;
  departures: Departures;
  roomChange: RoomChange;
}

/** A session outlives its token by the leeway of clocks and the time to resume; this is longer than both. */
const sessionsAfterExpiryMs = 5 * 60_000;

type RevokeTokens = (
  scope: { projectId: string; environment: Environment | null },
  choice: TokenChoice,
) => Promise<void>;

/**
 * Revokes tokens in every room of a project and ends their sessions. It takes each room's row, as a join does: either the
 * join sees the revocation, or this sees the session.
 */
export const createMassRevocation =
  ({ db, clock, departures, roomChange }: MassRevocationDeps): RevokeTokens =>
  async (scope, choice) => {
    const now = clock.now();
    const rooms = await listRoomsOfTokens(db, scope, choice, iso(now - sessionsAfterExpiryMs));
    await forEachRoom(rooms, (room) =>
      roomChange(room, room.id, async (tx, record) => {
        const tokenIds = await updateTokensRevoked(tx, room.id, choice, iso(now));
        await departures.end(tx, record, room.id, { tokenIds }, 'TOKEN_REVOKED');
      }),
    );
  };
