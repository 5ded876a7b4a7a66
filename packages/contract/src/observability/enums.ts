import { type Static, Type } from 'typebox';

export const ConnectionState = Type.Enum(['CONNECTING', 'CONNECTED', 'RECONNECTING', 'DISCONNECTED', 'FAILED']);
export type ConnectionState = Static<typeof ConnectionState>;

/** States of a connection that has not ended. */
export const liveConnectionStates = ['CONNECTING', 'CONNECTED', 'RECONNECTING'] as const satisfies ConnectionState[];

export const ErrorCategory = Type.Enum([
  'AUTHENTICATION',
  'PERMISSION',
  'SIGNALING',
  'ICE',
  'DTLS',
  'MEDIA',
  'DEVICE',
  'NETWORK',
  'CAPACITY',
  'SERVER',
  'CLIENT',
  'UNKNOWN',
]);
export type ErrorCategory = Static<typeof ErrorCategory>;

export const DependencyStatus = Type.Enum(['OK', 'DEGRADED', 'DOWN', 'UNKNOWN']);
export type DependencyStatus = Static<typeof DependencyStatus>;

export const ConnectionEventSource = Type.Enum(['SERVER', 'CLIENT']);
export type ConnectionEventSource = Static<typeof ConnectionEventSource>;
