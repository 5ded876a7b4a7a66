import type { Changes } from '../../core/changes.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { type Turn, withoutDeadline } from '../../core/delete-in-batches.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Mail } from '../../core/ports.ts';
import type { UnitOfWork } from '../../core/unit-of-work.ts';
import { insertChange, listDue, lockUnchanged, type StoredAlert, saveVerdict } from './alert-store.ts';
import { judge, type Reading } from './judge.ts';
import { insertMails } from './mail-store.ts';
import { mailOf } from './mails.ts';
import { createReadings, type Signals } from './readings.ts';

export interface EvaluationDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  mail: Mail;
  changes: Changes;
  publicUrl: string;
  unitOfWork: UnitOfWork;
  signals: Signals;
  projectName: (projectId: string) => Promise<string>;
}

export const evaluateEveryMs = 60_000;
/** Two processes that both think it is theirs count as one. */
const evaluatedAgainAfterMs = 50_000;
const batchMax = 200;

/** Looks at every alert once a minute; what changes is stored together with what is told of it. */
export function createEvaluation(deps: EvaluationDeps) {
  const { db, clock, ids, log, mail, changes, publicUrl, unitOfWork, projectName } = deps;
  const read = createReadings(deps.signals);

  async function apply(alert: StoredAlert, reading: Reading, at: string): Promise<boolean> {
    const name = alert.emails.length > 0 ? await projectName(alert.projectId) : '';
    return unitOfWork(alert, async (tx, emit) => {
      const current = await lockUnchanged(tx, alert);
      if (!current) return false;
      const verdict = judge(current, reading, at);
      const isChanged = verdict.state !== current.state;
      const { value, detail } = reading;
      await saveVerdict(tx, alert.id, { ...verdict, value, detail, since: isChanged ? at : current.since }, at);
      const { tells } = verdict;
      const recipients = mail.canSend ? current.emails : [];
      const notified = tells !== null && (current.webhook || recipients.length > 0);
      if (isChanged || notified)
        await insertChange(tx, alert.id, { at, state: verdict.state, value, detail, notified });
      if (tells === null) return isChanged;
      const { id: alertId, projectId, kind, bound } = current;
      if (current.webhook)
        emit({ type: `alert.${tells}`, data: { alertId, name: current.name, kind, bound, value, detail, at } });
      const text = mailOf({ ...current, value, detail }, tells, { projectName: name, publicUrl, at });
      await insertMails(
        tx,
        recipients.map((email) => ({ id: ids.newUuid(), alertId, projectId, email, ...text, createdAt: at })),
      );
      return true;
    });
  }

  async function evaluate(alert: StoredAlert, at: number): Promise<void> {
    try {
      if (await apply(alert, await read(alert, at), iso(at))) changes.note('alerts', alert);
    } catch (error) {
      log.warn({ error, alertId: alert.id, projectId: alert.projectId }, 'alert was not evaluated');
    }
  }

  /** Where a turn was over before all were looked at: the next one begins there, or the last would never have theirs. */
  let reached = '';

  return async (turn: Turn = withoutDeadline, only: { projectId?: string; at?: number } = {}): Promise<void> => {
    const { projectId = null, at = clock.now() } = only;
    let after = reached;
    reached = '';
    for (let isMore = true; isMore; ) {
      const due = await listDue(db, { before: iso(at - evaluatedAgainAfterMs), after, limit: batchMax, projectId });
      for (const alert of due) {
        if (turn.isOver()) {
          reached = after;
          return;
        }
        await evaluate(alert, at);
        after = alert.id;
      }
      isMore = due.length === batchMax;
    }
  };
}
