import { fail, idPattern, type RevokedRtcToken, rtcTokenSeconds } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { RevokedTokens } from '../end-users/index.ts';
import type { OfflineTokens } from '../projects/index.ts';
import type { Departures } from './departures.ts';
import type { RoomChange } from './room-change.ts';
import type { RoomTx, StoredRoom } from './room-store.ts';
import { findToken, updateTokenRevoked, updateTokensRevoked, upsertCutoff } from './rtc-token-store.ts';

export interface RtcRevocationDeps {
  clock: Clock;
  offlineTokens: OfflineTokens;
  revokedTokens: Pick<RevokedTokens, 'note' | 'announce'>;
  departures: Departures;
  roomChange: RoomChange;
  findRoom: (scope: ProjectScope, reference: string) => Promise<StoredRoom>;
}

const tokenIdPattern = new RegExp(idPattern('rtcToken'));

/** Ends tokens before their time, and the sessions that they opened. */
export function createRtcRevocation(deps: RtcRevocationDeps) {
  const { clock, offlineTokens, revokedTokens, departures, roomChange, findRoom } = deps;

  /** Takes the room's row like a join does: either the join sees the revocation, or this sees the session. */
  async function revoke(scope: ProjectScope, reference: string, tokenId: string): Promise<RevokedRtcToken> {
    const { id: roomId } = await findRoom(scope, reference);
    const at = iso(clock.now());
    const token = await roomChange(scope, roomId, async (tx, record) => {
      const revoked = await updateTokenRevoked(tx, roomId, tokenId, at);
      if (revoked) await departures.end(tx, record, roomId, { tokenIds: [tokenId] }, 'TOKEN_REVOKED');
      return revoked ?? revokeUnseen(tx, scope, tokenId);
    });
    if (!('id' in token)) revokedTokens.announce(scope, tokenId);
    return {
      id: tokenId,
      tokenId,
      roomId,
      participantIdentity: token.identity,
      expiresAt: token.expiresAt,
      revokedAt: token.revokedAt ?? at,
    };
  }

  /** A token that was signed offline has no row until it is used; whose it is and when it ends only its holder knows. */
  async function revokeUnseen(tx: RoomTx, scope: ProjectScope, tokenId: string) {
    const mayExist = tokenIdPattern.test(tokenId) && (await offlineTokens.hasKey(tx, scope));
    if (!mayExist || (await findToken(tx, scope, tokenId))) return fail('SVC_TOKEN_NOT_FOUND');
    const revokedAt = await revokedTokens.note(tx, scope, tokenId);
    return { identity: '', expiresAt: iso(Date.parse(revokedAt) + rtcTokenSeconds.max * 1000), revokedAt };
  }

  /** Revokes every token of an identity and ends its session. */
  async function revokeIdentity(scope: ProjectScope, roomId: string, identity: string): Promise<void> {
    await roomChange(scope, roomId, async (tx, record) => {
      await revokeTokensOf(tx, roomId, identity, iso(clock.now()));
      await departures.end(tx, record, roomId, { identity }, 'TOKEN_REVOKED');
    });
  }

  return { revoke, revokeIdentity };
}

/** Every token of an identity for a room, also those signed offline that nobody has shown yet. */
export async function revokeTokensOf(tx: RoomTx, roomId: string, identity: string, at: string): Promise<void> {
  await updateTokensRevoked(tx, roomId, { identity }, at);
  await upsertCutoff(tx, roomId, identity, at);
}
