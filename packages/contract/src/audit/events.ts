import { Type } from 'typebox';
import { eventRows } from '../events.ts';
import { AuditEntry } from './schemas.ts';

export const auditEvents = eventRows({
  'audit.recorded': {
    since: '0.1.0',
    when: 'An entry was added to the audit log; one of the whole project is an event in both environments.',
    onRequest: 'audit:read',
    data: Type.Object({ entry: AuditEntry }),
  },
});
