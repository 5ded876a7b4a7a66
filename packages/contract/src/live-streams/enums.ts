import { type Static, Type } from 'typebox';

export const LiveStreamVisibility = Type.Enum(['PUBLIC', 'UNLISTED', 'PRIVATE']);
export type LiveStreamVisibility = Static<typeof LiveStreamVisibility>;

export const LiveStreamStatus = Type.Enum(['CREATED', 'LIVE', 'ENDED']);
export type LiveStreamStatus = Static<typeof LiveStreamStatus>;

export const LiveStreamHostRole = Type.Enum(['HOST', 'CO_HOST']);
export type LiveStreamHostRole = Static<typeof LiveStreamHostRole>;
