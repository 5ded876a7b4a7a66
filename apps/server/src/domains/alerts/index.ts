import type { alertRoutes, Limits } from '@parley/contract';
import { iso } from '../../core/clock.ts';
import { deleteInBatches, type Turn } from '../../core/delete-in-batches.ts';
import type { Domain } from '../../core/part.ts';
import { findProject, listMemberEmails } from '../projects/index.ts';
import { deleteOldChanges } from './alert-store.ts';
import { type AlertsDeps, createAlertRules } from './alerts.ts';
import { createEvaluation, type EvaluationDeps, evaluateEveryMs } from './evaluation.ts';
import { isMailDue } from './mail-store.ts';
import { type AlertMailDeps, createAlertMails } from './mails.ts';

type Deps = AlertsDeps & EvaluationDeps & AlertMailDeps;

interface AlertsDomainDeps extends Omit<Deps, 'memberEmails' | 'projectName'> {
  limits: Limits;
}

interface Alerts extends Domain<typeof alertRoutes> {
  /** Looks at every alert, or at those of one project, as of now or of a time. */
  evaluate: ReturnType<typeof createEvaluation>;
  /** Sends the mails that are due. */
  sendMails(turn?: Turn): Promise<void>;
}

const dayMs = 24 * 60 * 60 * 1000;

export function createAlerts(given: AlertsDomainDeps): Alerts {
  const { db, clock, limits } = given;
  const deps: Deps = {
    ...given,
    memberEmails: (projectId) => listMemberEmails(db, projectId),
    projectName: async (projectId) => (await findProject(db, projectId))?.name ?? projectId,
  };
  const rules = createAlertRules(deps);
  const evaluate = createEvaluation(deps);
  const sendMails = createAlertMails(deps);

  function deleteOld(turn: Turn): Promise<number> {
    const before = iso(clock.now() - limits.ALERTS_RETENTION_DAYS * dayMs);
    return deleteInBatches({ turn }, (limit) => deleteOldChanges(db, before, limit));
  }

  return {
    evaluate,
    sendMails,
    chores: [
      { name: 'alerts', everyMs: evaluateEveryMs, run: (turn) => evaluate(turn), onDatabaseAlone: true },
      {
        name: 'alert-mails',
        everyMs: 5_000,
        run: sendMails,
        isDue: () => isMailDue(iso(clock.now())),
        onDatabaseAlone: true,
      },
      { name: 'alert-retention', everyMs: 60_000, run: deleteOld, onDatabaseAlone: true },
    ],
    handlers: {
      listAlerts: ({ caller, query }) => rules.list(caller, query),
      createAlert: ({ caller, body }) => rules.create(caller, body),
      getAlert: ({ caller, params }) => rules.get(caller, params.alertId),
      updateAlert: ({ caller, params, body }) => rules.update(caller, params.alertId, body),
      deleteAlert: ({ caller, params }) => rules.remove(caller, params.alertId),
      silenceAlert: ({ caller, params, body }) => rules.silence(caller, params.alertId, body.until),
      listAlertHistory: ({ caller, params, query }) => rules.history(caller, params.alertId, query),
      listProjectAlerts: ({ caller, query }) => rules.list(caller, query),
      createProjectAlert: ({ caller, body }) => rules.create(caller, body),
      getProjectAlert: ({ caller, params }) => rules.get(caller, params.alertId),
      updateProjectAlert: ({ caller, params, body }) => rules.update(caller, params.alertId, body),
      deleteProjectAlert: ({ caller, params }) => rules.remove(caller, params.alertId),
      silenceProjectAlert: ({ caller, params, body }) => rules.silence(caller, params.alertId, body.until),
      listProjectAlertHistory: ({ caller, params, query }) => rules.history(caller, params.alertId, query),
    },
  };
}
