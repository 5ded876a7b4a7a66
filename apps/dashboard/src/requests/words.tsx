import type { ApiRequest } from '@parley/contract';
import { Badge, type Tone } from '../kit/badge.tsx';

export const credentialWords: Readonly<Record<ApiRequest['credential'], string>> = {
  apiKey: 'API key',
  chatToken: 'Chat token',
  rtcToken: 'RTC token',
  session: 'Dashboard',
};

export const outcomeWords = {
  OK: 'Successful',
  FAILED: 'Failed',
  CLIENT_ERROR: 'Refused (4xx)',
  SERVER_ERROR: 'Our fault (5xx)',
} as const;
export const isOutcome = (text: string): text is keyof typeof outcomeWords => Object.hasOwn(outcomeWords, text);

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export const isMethod = (text: string): text is (typeof methods)[number] =>
  (methods as readonly string[]).includes(text);

const toneOf = (status: number): Tone => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'ok');

export const StatusBadge = ({ status }: Pick<ApiRequest, 'status'>) => (
  <Badge tone={toneOf(status)} shape={status >= 400 ? 'square' : 'dot'}>
    {status}
  </Badge>
);
