import type { ApiRequest } from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Badge, type Tone } from '../kit/badge.tsx';

const credentials: Readonly<Record<ApiRequest['credential'], PlainKey>> = {
  apiKey: 'requests.apiKey',
  chatToken: 'requests.chatToken',
  rtcToken: 'requests.rtcToken',
  session: 'requests.dashboard',
};

export const credentialWord = (credential: ApiRequest['credential']): string => t(credentials[credential]);

export const outcomes = {
  OK: 'requests.successful',
  FAILED: 'words.failed',
  CLIENT_ERROR: 'requests.refused',
  SERVER_ERROR: 'requests.ourFault',
} as const;
export const isOutcome = (text: string): text is keyof typeof outcomes => Object.hasOwn(outcomes, text);

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export const isMethod = (text: string): text is (typeof methods)[number] =>
  (methods as readonly string[]).includes(text);

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'ok');

export const StatusBadge = ({ status }: Pick<ApiRequest, 'status'>) => (
  <Badge tone={toneOf(status)} shape={status >= 400 ? 'square' : 'dot'}>
    {status}
  </Badge>
);
