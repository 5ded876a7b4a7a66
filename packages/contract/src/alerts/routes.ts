import { Type } from 'typebox';
import { routes, type TObject, type TProperties } from '../route.ts';
import { EnvironmentQuery } from '../schema.ts';
import {
  Alert,
  AlertChange,
  AlertHistoryQuery,
  AlertsQuery,
  CreateAlert,
  SilenceAlert,
  UpdateAlert,
} from './schemas.ts';

const byKey = { by: ['apiKey'], scope: 'alerts' } as const;
const reading = { by: ['session'], needs: 'observability:read', query: Type.Object(EnvironmentQuery) } as const;
const managing = { ...reading, needs: 'alert:manage' } as const;
const withEnvironment = <P extends TProperties>(query: TObject<P>) =>
  Type.Object({ ...query.properties, ...EnvironmentQuery });

const refusals = ['SVC_VALIDATION_FAILED', 'SVC_MAIL_NOT_CONFIGURED'] as const;

/** Each stands behind two doors: the API key's and the dashboard's. */
const list = {
  query: AlertsQuery,
  paged: true,
  returns: [200, Type.Array(Alert)],
  throws: ['SVC_INVALID_CURSOR'],
  does: 'Lists the alerts of the environment with their state, newest first.',
} as const;
const create = {
  replay: 'resource',
  audit: 'alert.created',
  body: CreateAlert,
  returns: [201, Alert],
  throws: [...refusals, 'SVC_UNKNOWN_FIELD', 'SVC_PROJECT_ARCHIVED', 'SVC_QUOTA_EXCEEDED'],
  does: 'Makes an alert: what it is about, its bound, and who is told by mail (members of the project) or webhook.',
} as const;
const get = {
  returns: [200, Alert],
  throws: ['SVC_ALERT_NOT_FOUND'],
  does: 'Reads an alert with its state and what was found last.',
} as const;
const update = {
  audit: 'alert.updated',
  body: UpdateAlert,
  returns: [200, Alert],
  throws: ['SVC_ALERT_NOT_FOUND', ...refusals, 'SVC_UNKNOWN_FIELD'],
  does: 'Changes an alert. Its kind stays; `emails` replaces the whole list.',
} as const;
const remove = {
  audit: 'alert.deleted',
  returns: [204, null],
  throws: ['SVC_ALERT_NOT_FOUND'],
  does: 'Deletes an alert with its history; nothing more is told.',
} as const;
const silence = {
  audit: 'alert.silenced',
  body: SilenceAlert,
  returns: [200, Alert],
  throws: ['SVC_ALERT_NOT_FOUND', 'SVC_VALIDATION_FAILED', 'SVC_UNKNOWN_FIELD'],
  does: 'Silences an alert until a time within a year; null ends the silence. What still holds then is told then.',
} as const;
const history = {
  query: AlertHistoryQuery,
  paged: true,
  returns: [200, Type.Array(AlertChange)],
  throws: ['SVC_ALERT_NOT_FOUND', 'SVC_INVALID_CURSOR'],
  does: 'Lists the changes of an alert, newest first.',
} as const;

export const alertRoutes = routes({
  listAlerts: { at: 'GET /v1/alerts', sdk: 'alerts.list', ...byKey, ...list },
  createAlert: { at: 'POST /v1/alerts', sdk: 'alerts.create', ...byKey, ...create },
  getAlert: { at: 'GET /v1/alerts/{alertId}', sdk: 'alerts.get', ...byKey, ...get },
  updateAlert: { at: 'PATCH /v1/alerts/{alertId}', sdk: 'alerts.update', ...byKey, ...update },
  deleteAlert: { at: 'DELETE /v1/alerts/{alertId}', sdk: 'alerts.delete', ...byKey, ...remove },
  silenceAlert: { at: 'POST /v1/alerts/{alertId}/silence', sdk: 'alerts.silence', ...byKey, ...silence },
  listAlertHistory: { at: 'GET /v1/alerts/{alertId}/history', sdk: 'alerts.history', ...byKey, ...history },
  listProjectAlerts: {
    at: 'GET /v1/projects/{projectId}/alerts',
    ...reading,
    ...list,
    query: withEnvironment(AlertsQuery),
  },
  createProjectAlert: { at: 'POST /v1/projects/{projectId}/alerts', ...managing, ...create },
  getProjectAlert: { at: 'GET /v1/projects/{projectId}/alerts/{alertId}', ...reading, ...get },
  updateProjectAlert: { at: 'PATCH /v1/projects/{projectId}/alerts/{alertId}', ...managing, ...update },
  deleteProjectAlert: { at: 'DELETE /v1/projects/{projectId}/alerts/{alertId}', ...managing, ...remove },
  silenceProjectAlert: { at: 'POST /v1/projects/{projectId}/alerts/{alertId}/silence', ...managing, ...silence },
  listProjectAlertHistory: {
    at: 'GET /v1/projects/{projectId}/alerts/{alertId}/history',
    ...reading,
    ...history,
    query: withEnvironment(AlertHistoryQuery),
  },
});
