import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable, Timestamp } from '../schema.ts';
import { AlertKind } from './schemas.ts';

const data = Type.Object({
  alertId: Type.String(),
  name: Type.String(),
  kind: AlertKind,
  bound: Nullable(Type.Number()),
  value: Nullable(Type.Number()),
  detail: Nullable(Type.String()),
  at: Timestamp,
});

export const alertEvents = eventRows({
  'alert.firing': { since: '0.1.0', when: 'What an alert waits for has begun.', data },
  'alert.resolved': { since: '0.1.0', when: 'It has ended.', data },
});
