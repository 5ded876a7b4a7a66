import { type Static, Type } from 'typebox';

/** OFFLINE is computed from the last heartbeat; DRAINED is draining with no room left on the node. */
export const RtcServerStatus = Type.Enum(['ACTIVE', 'DRAINING', 'DRAINED', 'OFFLINE']);
export type RtcServerStatus = Static<typeof RtcServerStatus>;
