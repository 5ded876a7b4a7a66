import type { ConnectionState, DependencyStatus, ErrorCategory } from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Badge, type Tone } from '../kit/badge.tsx';

export const stateWords: Readonly<Record<ConnectionState, readonly [PlainKey, Tone, 'dot' | 'ring' | 'square']>> = {
  CONNECTING: ['observability.connecting', 'accent', 'ring'],
  CONNECTED: ['words.connected', 'ok', 'dot'],
  RECONNECTING: ['observability.reconnecting', 'warn', 'ring'],
  DISCONNECTED: ['words.ended', 'plain', 'square'],
  FAILED: ['words.failed', 'bad', 'square'],
};

export function ConnectionBadge({ state }: { state: ConnectionState }) {
  const [word, tone, shape] = stateWords[state];
  return (
    <Badge tone={tone} shape={shape}>
      {t(word)}
    </Badge>
  );
}

const categories: Readonly<Record<ErrorCategory, PlainKey | 'ICE' | 'DTLS'>> = {
  AUTHENTICATION: 'observability.authentication',
  PERMISSION: 'observability.permission',
  SIGNALING: 'observability.signaling',
  ICE: 'ICE',
  DTLS: 'DTLS',
  MEDIA: 'observability.media',
  DEVICE: 'observability.device',
  NETWORK: 'observability.network',
  CAPACITY: 'observability.capacity',
  SERVER: 'observability.server',
  CLIENT: 'observability.client',
  UNKNOWN: 'words.unknownWord',
};

export function categoryWord(category: ErrorCategory): string {
  const word = categories[category];
  // The protocols are called the same in every language.
  return word === 'ICE' || word === 'DTLS' ? word : t(word);
}

export const isState = (text: string): text is ConnectionState => Object.hasOwn(stateWords, text);
export const isCategory = (text: string): text is ErrorCategory => Object.hasOwn(categories, text);

const dependencyWords: Readonly<Record<DependencyStatus, readonly [PlainKey | 'OK', Tone]>> = {
  OK: ['OK', 'ok'],
  DEGRADED: ['observability.degraded', 'warn'],
  DOWN: ['observability.down', 'bad'],
  UNKNOWN: ['words.unknownWord', 'plain'],
};

export function DependencyBadge({ status }: { status: DependencyStatus }) {
  const [word, tone] = dependencyWords[status];
  return (
    <Badge tone={tone} shape={status === 'DOWN' ? 'square' : status === 'OK' ? 'dot' : 'ring'}>
      {word === 'OK' ? word : t(word)}
    </Badge>
  );
}
