import type { ConnectionState, DependencyStatus, ErrorCategory } from '@parley/contract';
import { Badge, type Tone } from '../kit/badge.tsx';

export const stateWords: Readonly<Record<ConnectionState, readonly [string, Tone, 'dot' | 'ring' | 'square']>> = {
  CONNECTING: ['Connecting', 'accent', 'ring'],
  CONNECTED: ['Connected', 'ok', 'dot'],
  RECONNECTING: ['Reconnecting', 'warn', 'ring'],
  DISCONNECTED: ['Ended', 'plain', 'square'],
  FAILED: ['Failed', 'bad', 'square'],
};

export function ConnectionBadge({ state }: { state: ConnectionState }) {
  const [word, tone, shape] = stateWords[state];
  return (
    <Badge tone={tone} shape={shape}>
      {word}
    </Badge>
  );
}

export const categoryWords: Readonly<Record<ErrorCategory, string>> = {
  AUTHENTICATION: 'Authentication',
  PERMISSION: 'Permission',
  SIGNALING: 'Signaling',
  ICE: 'ICE',
  DTLS: 'DTLS',
  MEDIA: 'Media',
  DEVICE: 'Device',
  NETWORK: 'Network',
  CAPACITY: 'Capacity',
  SERVER: 'Server',
  CLIENT: 'Client',
  UNKNOWN: 'Unknown',
};

export const isState = (text: string): text is ConnectionState => Object.hasOwn(stateWords, text);
export const isCategory = (text: string): text is ErrorCategory => Object.hasOwn(categoryWords, text);

const dependencyWords: Readonly<Record<DependencyStatus, readonly [string, Tone]>> = {
  OK: ['OK', 'ok'],
  DEGRADED: ['Degraded', 'warn'],
  DOWN: ['Down', 'bad'],
  UNKNOWN: ['Unknown', 'plain'],
};

export function DependencyBadge({ status }: { status: DependencyStatus }) {
  const [word, tone] = dependencyWords[status];
  return (
    <Badge tone={tone} shape={status === 'DOWN' ? 'square' : status === 'OK' ? 'dot' : 'ring'}>
      {word}
    </Badge>
  );
}
