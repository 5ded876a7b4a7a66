import { Type } from 'typebox';
import { routes } from '../route.ts';
import { AuditEntry, AuditQuery } from './schemas.ts';

export const auditRoutes = routes({
  listAuditLogs: {
    at: 'GET /v1/projects/{projectId}/audit-logs',
    by: ['session'],
    needs: 'audit:read',
    query: AuditQuery,
    returns: [200, Type.Array(AuditEntry)],
    throws: ['SVC_INVALID_ACTION_FILTER', 'SVC_INVALID_CURSOR'],
    does: "Lists administrative actions on the project, newest first. Pass the last entry's id as `before` for older ones.",
  },
});
