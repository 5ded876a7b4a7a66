import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { Nullable, Timestamp } from '../schema.ts';

export const webhookEvents = eventRows({
  'webhook.disabled': {
    since: '0.1.0',
    when: 'An endpoint was disabled after too many failures in a row.',
    data: Type.Object({
      webhookId: Type.String(),
      url: Type.String(),
      consecutiveFailures: Type.Integer(),
      lastError: Nullable(Type.String()),
      disabledAt: Timestamp,
    }),
  },
});
