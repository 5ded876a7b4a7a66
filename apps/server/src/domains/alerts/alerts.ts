import {
  type Alert,
  type AlertChange,
  type AlertHistoryQuery,
  type AlertsQuery,
  alertKinds,
  type CreateAlert,
  type ErrorDetail,
  fail,
  type UpdateAlert,
} from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { readFuture } from '../../core/future.ts';
import { type Answer, page, recorded } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { Mail } from '../../core/ports.ts';
import { ownerOf, type Quotas } from '../../core/quotas.ts';
import { refuse } from '../../core/validation.ts';
import {
  type AlertCondition,
  deleteAlert,
  findAlert,
  insertAlert,
  insertChange,
  listAlerts,
  listChanges,
  type StoredAlert,
  updateAlert,
  updateSilence,
} from './alert-store.ts';
import { windowMinutesDefault } from './readings.ts';

export interface AlertsDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  quotas: Quotas;
  mail: Mail;
  assertNotArchived: (projectId: string) => Promise<void>;
  memberEmails: (projectId: string) => Promise<string[]>;
}

const silenceMsMax = 366 * 24 * 60 * 60 * 1000;
const conditionNames = ['bound', 'windowMinutes', 'meter', 'period', 'target'] as const;

/** The alerts of a project and environment, as people and API keys keep them. */
export function createAlertRules({
  db,
  clock,
  ids,
  cursors,
  quotas,
  mail,
  assertNotArchived,
  memberEmails,
}: AlertsDeps) {
  const find = async (scope: ProjectScope, id: string): Promise<StoredAlert> =>
    (await findAlert(db, scope, id)) ?? fail('SVC_ALERT_NOT_FOUND');
  const subjectOf = ({ environment }: ProjectScope, resourceId: string) => ({ resourceId, environment });

  /** Mail goes to members only: an alert is no way to write to strangers. */
  async function checkEmails({ projectId }: ProjectScope, emails: readonly string[]): Promise<string[]> {
    if (emails.length === 0) return [];
    if (!mail.canSend) fail('SVC_MAIL_NOT_CONFIGURED');
    const members = new Map((await memberEmails(projectId)).map((email) => [email.toLowerCase(), email]));
    const known = emails.map((email) => members.get(email.toLowerCase()));
    const wrong = known.indexOf(undefined);
    if (wrong >= 0) refuseField('emails', 'member', `may only name members who have joined, not ${emails[wrong]}.`);
    return [...new Set(known.filter((email) => email !== undefined))];
  }

  return {
    async list(scope: ProjectScope, query: AlertsQuery): Promise<Answer<Alert[]>> {
      const { limit = pageSizeDefault, cursor, state = null } = query;
      const list = `alerts/${scope.projectId}/${scope.environment}/${state ?? ''}`;
      const before = cursor === undefined ? null : String(cursors.read(list, cursor)[0]);
      const rows = await listAlerts(db, scope, { state, before, limit: limit + 1 });
      const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.id]));
      return page<Alert>(items, nextCursor);
    },

    async create(scope: ProjectScope, draft: CreateAlert): Promise<Answer<Alert>> {
      await assertNotArchived(scope.projectId);
      const condition = conditionOf(draft);
      const emails = await checkEmails(scope, draft.emails ?? []);
      const id = ids.newId('alert');
      const alert = await db.transaction(async (tx) => {
        const row = { ...condition, emails, webhook: draft.webhook ?? true };
        const inserted = await insertAlert(tx, scope, id, row, iso(clock.now()));
        await quotas.take(tx, 'ALERTS_MAX_RULES', ownerOf(scope));
        return inserted;
      });
      return recorded<Alert>(alert, subjectOf(scope, id));
    },

    get: (scope: ProjectScope, id: string): Promise<Alert> => find(scope, id),

    async update(scope: ProjectScope, id: string, body: UpdateAlert): Promise<Answer<Alert>> {
      const before = await find(scope, id);
      const { emails, ...change } = body;
      checkCondition(before.kind, change);
      const checked = emails === undefined ? {} : { emails: await checkEmails(scope, emails) };
      const alert = await updateAlert(db, scope, id, { ...change, ...checked }, iso(clock.now()));
      if (!alert) fail('SVC_ALERT_NOT_FOUND');
      const metadata = { changed: Object.keys(body) };
      return recorded<Alert>(alert, { ...subjectOf(scope, id), metadata });
    },

    async remove(scope: ProjectScope, id: string): Promise<Answer<undefined>> {
      const isRemoved = await db.transaction(async (tx) => {
        if (!(await deleteAlert(tx, scope, id))) return false;
        await quotas.giveBack(tx, 'ALERTS_MAX_RULES', ownerOf(scope));
        return true;
      });
      return isRemoved ? recorded(undefined, subjectOf(scope, id)) : fail('SVC_ALERT_NOT_FOUND');
    },

    async silence(scope: ProjectScope, id: string, until: string | null): Promise<Answer<Alert>> {
      const now = clock.now();
      const at = iso(now);
      const ends = until === null ? null : readFuture('until', until, now);
      if (ends !== null && ends > iso(now + silenceMsMax)) refuseField('until', 'range', 'must be within a year.');
      const alert = await db.transaction(async (tx) => {
        const row = (await updateSilence(tx, scope, id, ends, at)) ?? fail('SVC_ALERT_NOT_FOUND');
        const { state, value, detail } = row;
        if (row.since === at) await insertChange(tx, id, { at, state, value, detail, notified: false });
        return row;
      });
      return recorded<Alert>(alert, { ...subjectOf(scope, id), metadata: { until: ends } });
    },

    async history(scope: ProjectScope, id: string, query: AlertHistoryQuery): Promise<Answer<AlertChange[]>> {
      await find(scope, id);
      const { limit = pageSizeDefault, cursor } = query;
      const list = `alert-history/${id}`;
      const before = cursor === undefined ? null : String(cursors.read(list, cursor)[0]);
      const rows = await listChanges(db, id, { before, limit: limit + 1 });
      const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.id]));
      return page(items, nextCursor);
    },
  };
}

const refuseField = (field: string, rule: string, message: string): never =>
  refuse([{ field, rule, message: `${field} ${message}` } satisfies ErrorDetail]);

/** A field that its kind does not take is a mistake: it would change nothing. */
function checkCondition(kind: Alert['kind'], given: Partial<Omit<UpdateAlert, 'emails'>>): void {
  const { takes, boundMax } = alertKinds[kind];
  const strange = conditionNames.find(
    (name) => given[name] !== undefined && !(takes as readonly string[]).includes(name),
  );
  if (strange !== undefined) refuseField(strange, 'kind', `does not belong to ${kind}.`);
  if (given.bound !== undefined && given.bound > boundMax)
    refuseField('bound', 'maximum', `must be at most ${boundMax}.`);
}

/** With the defaults of its kind. */
function conditionOf(draft: CreateAlert): Omit<AlertCondition, 'emails' | 'webhook'> {
  const { name, kind } = draft;
  checkCondition(kind, draft);
  const bound = draft.bound ?? alertKinds[kind].bound;
  const isUsage = kind === 'USAGE_ABOVE';
  if (isUsage && bound === null) refuseField('bound', 'required', 'is needed.');
  if (isUsage && draft.meter === undefined) refuseField('meter', 'required', 'is needed.');
  return {
    name,
    kind,
    bound,
    windowMinutes: kind === 'JOIN_SUCCESS_BELOW' ? (draft.windowMinutes ?? windowMinutesDefault) : null,
    meter: draft.meter ?? null,
    period: isUsage ? (draft.period ?? 'MONTH') : null,
    target: draft.target ?? null,
  };
}
