import { type AuditAction, auditActions, type auditRoutes, fail } from '@parley/contract';
import type { Caller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { AuditSubject, RequestInfo } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Domain } from '../../core/part.ts';
import { hasEntry, insertEntry, listEntries, type NewAuditEntry } from './audit-store.ts';
import { createSpool } from './spool.ts';

interface AuditDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Where entries wait that the database refused. */
  spoolPath: string;
}

export interface Audit extends Domain<typeof auditRoutes> {
  /**
   * Records what a person did in a project; calls with other credentials are not recorded. Never rejects: what cannot
   * be written now is kept on disk and retried.
   */
  record(action: AuditAction, caller: Caller, subject: AuditSubject, request: RequestInfo): Promise<void>;
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

  const retryKept = (): Promise<void> => spool.drain((entry) => insertEntry(db, entry.projectId, entry));

  return {
    chores: [{ name: 'audit-spool', everyMs: 5_000, run: retryKept, onEveryProcess: true }],

    async record(action, caller, subject, request) {
      if (caller.kind !== 'session') return;
      const projectId = 'projectId' in caller ? caller.projectId : subject.projectId;
      if (projectId === undefined) return;
      const entry: NewAuditEntry = {
        id: ids.newId('audit'),
        projectId,
        environment: subject.environment ?? null,
        actorId: caller.userId,
        actorEmail: caller.email,
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

    retryKept,

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
