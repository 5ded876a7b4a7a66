import { Type } from 'typebox';
import { routes } from '../route.ts';
import {
  AuditEntry,
  AuditExportQuery,
  AuditQuery,
  InstanceSecurityQuery,
  SecurityEntry,
  SecurityQuery,
} from './schemas.ts';

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
  exportAuditLogs: {
    at: 'GET /v1/projects/{projectId}/audit-logs/export',
    by: ['session'],
    needs: 'audit:read',
    budget: 20,
    query: AuditExportQuery,
    streams: 'application/x-ndjson',
    returns: [200, null],
    throws: ['SVC_INVALID_ACTION_FILTER', 'SVC_VALIDATION_FAILED'],
    does: 'Exports the entries of a time range as NDJSON, one entry a line, newest first. `from` is inclusive, `to` exclusive; the range is the last 30 days by default and 366 days at most.',
  },
  listSecurityLog: {
    at: 'GET /v1/auth/security-log',
    by: ['session'],
    query: SecurityQuery,
    returns: [200, Type.Array(SecurityEntry)],
    throws: ['SVC_INVALID_ACTION_FILTER', 'SVC_INVALID_CURSOR'],
    does: "Lists sign-ins, failures, password changes and ended sessions of the signed-in user's account, newest first. Pass the last entry's id as `before` for older ones.",
  },
  listInstanceSecurityLog: {
    at: 'GET /v1/security-log',
    by: ['session'],
    needs: 'security:read',
    query: InstanceSecurityQuery,
    returns: [200, Type.Array(SecurityEntry)],
    throws: ['SVC_INVALID_ACTION_FILTER', 'SVC_INVALID_CURSOR'],
    does: 'Lists the same of every account, for operators of the instance.',
  },
});
