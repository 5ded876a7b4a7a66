import { type AuditAction, auditActions, type auditRoutes, fail } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { AuditSubject, Handlers, RequestInfo } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { hasEntry, insertEntry, listEntries, type NewAuditEntry } from './audit-store.ts';
import { createSpool } from './spool.ts';

export interface AuditDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Where entries wait that the database refused. */
  spoolPath: string;
}

export interface AuditActor {
  userId: string;
  email: string;
}

export interface Audit {
  handlers: Handlers<typeof auditRoutes>;
  /** Records an action. Never rejects: what cannot be written now is kept on disk and retried. */
  record(
    action: AuditAction,
    projectId: string,
    actor: AuditActor,
    subject: AuditSubject,
    request: RequestInfo,
  ): Promise<void>;
  /** Writes what was kept. */
  retryKept(): Promise<void>;
}

const pageSize = 50;

export function createAudit({ db, clock, ids, log, spoolPath }: AuditDeps): Audit {
  const spool = createSpool<NewAuditEntry>(spoolPath);

  async function keep(entry: NewAuditEntry, error: unknown): Promise<void> {
    log.error(
      { error, auditId: entry.id, action: entry.action, requestId: entry.requestId },
      'audit write failed; kept for retry',
    );
    await spool.add(entry).catch((lost) => log.error({ error: lost, entry }, 'audit entry could not be kept'));
  }

  return {
    async record(action, projectId, actor, subject, request) {
      const entry: NewAuditEntry = {
        id: ids.newId('audit'),
        projectId,
        environment: subject.environment ?? null,
        actorId: actor.userId,
        actorEmail: actor.email,
        action,
        resourceType: auditActions[action],
        resourceId: subject.resourceId,
        metadata: subject.metadata ?? {},
        requestId: request.id,
        ipAddress: request.ip,
        userAgent: request.userAgent,
        createdAt: iso(clock.now()),
      };
      await insertEntry(db, projectId, entry).catch((error) => keep(entry, error));
    },

    retryKept: () => spool.drain((entry) => insertEntry(db, entry.projectId, entry)),

    handlers: {
      listAuditLogs: async ({ caller, query }) => {
        const { action, before } = query;
        if (action !== undefined && !Object.hasOwn(auditActions, action)) fail('SVC_INVALID_ACTION_FILTER');
        if (before !== undefined && !(await hasEntry(db, caller.projectId, before))) fail('SVC_INVALID_CURSOR');
        return listEntries(db, caller.projectId, { ...query, limit: query.limit ?? pageSize });
      },
    },
  };
}
