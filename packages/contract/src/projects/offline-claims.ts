import { type Static, Type } from 'typebox';
import { MintChatToken } from '../chat/schemas.ts';
import { type IdKind, idPattern } from '../ids.ts';
import { MintRtcToken } from '../rooms/schemas.ts';
import { Name, Nullable } from '../schema.ts';

/** Claims of tokens that a backend signs by itself: the fields of the mint routes under the names that our own tokens use. */

const Id = (kind: IdKind) => Type.String({ pattern: idPattern(kind) });
const Seconds = Type.Integer({ minimum: 0, maximum: 1e11 });
const times = {
  iat: Seconds,
  exp: Seconds,
  nbf: Type.Optional(Seconds),
  /** `iat` in milliseconds: a revocation in the same second is before it or after it. */
  ims: Type.Optional(Type.Integer({ minimum: 0, maximum: 1e14 })),
};

export const OfflineRtcClaims = Type.Object({
  ...times,
  jti: Id('rtcToken'),
  sub: MintRtcToken.properties.participantIdentity,
  /** The id of a room, or the name of one that is open. */
  room: Name,
  perm: MintRtcToken.properties.permissions,
  md: Type.Optional(Nullable(MintRtcToken.properties.metadata)),
});
export type OfflineRtcClaims = Static<typeof OfflineRtcClaims>;

export const OfflineChatClaims = Type.Object({
  ...times,
  jti: Id('chatToken'),
  sub: MintChatToken.properties.userId,
  scp: MintChatToken.properties.scopes,
  conv: Type.Optional(Nullable(Type.Array(Id('conversation'), { maxItems: 200 }))),
});
export type OfflineChatClaims = Static<typeof OfflineChatClaims>;
