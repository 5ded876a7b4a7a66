import { type Static, Type } from 'typebox';
import { Line, Nullable, Timestamp } from '../schema.ts';

/** An end user as far as access goes. One who was never shut out has the same record with nulls. */
export const EndUser = Type.Object({
  userId: Type.String(),
  banned: Type.Boolean(),
  bannedUntil: Nullable(Timestamp),
  reason: Nullable(Type.String()),
  /** Tokens issued until then are refused. */
  revokedAt: Nullable(Timestamp),
});
export type EndUser = Static<typeof EndUser>;

export const RevokeUser = Type.Object({
  /** Until then the user gets no token and joins nothing. Without it, an earlier ban stays as it is. */
  bannedUntil: Type.Optional(Timestamp),
  /** For those who look it up; the user is not told. */
  reason: Type.Optional(Line(1, 256)),
});
export type RevokeUser = Static<typeof RevokeUser>;
