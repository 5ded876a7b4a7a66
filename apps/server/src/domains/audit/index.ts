import { join } from 'node:path';
import { type AuditAction, auditActions, type auditRoutes, fail, type Limits } from '@parley/contract';
import { maskedAddress } from '../../core/addresses.ts';
import type { ApiKeyCaller, Caller } from '../../core/caller.ts';
import { iso } from '../../core/clock.ts';
import { deleteInBatches, type Turn, withoutDeadline } from '../../core/delete-in-batches.ts';
import type { AuditSubject, RequestInfo } from '../../core/handlers.ts';
import type { Log } from '../../core/log.ts';
import type { Domain } from '../../core/part.ts';
import { chatActor, type PersonalData } from '../../core/personal-data.ts';
import type { Counters } from '../../core/ports.ts';
import type { ReplicatedReads } from '../../core/replicated-reads.ts';
import { hasEntry, listEntries, type NewAuditEntry } from './audit-store.ts';
import { createEntryWrites, type EntryWritesDeps } from './entry-writes.ts';
import { createExport } from './export.ts';
import { createKeyNetworks } from './key-networks.ts';
import { listEntriesAbout, renameEntries } from './personal-store.ts';
import { auditTables, deleteExpiredEntries } from './retention-store.ts';
import { createSafeWrites } from './safe-writes.ts';
import { createSecurityLog } from './security-log.ts';

interface AuditDeps extends EntryWritesDeps {
  replicated: ReplicatedReads;
  log: Log;
  counters: Counters;
  limits: Limits;
  /** Where entries wait that the database refused. */
  spoolDir: string;
}

interface Audit extends Domain<typeof auditRoutes> {
  /**
   * Records what a person or an API key did in a project. Never rejects: what cannot be written now is kept on disk
   * and retried.
   */
  record(action: AuditAction, caller: Caller, subject: AuditSubject, request: RequestInfo): Promise<void>;
  /** Records what happened to an account. Never rejects either. */
  recordSecurity: ReturnType<typeof createSecurityLog>['record'];
  /** Records the first use of an API key from a network. Returns at once. */
  noteKeyUse(caller: ApiKeyCaller, request: RequestInfo): void;
  personalData: PersonalData;
  /** Writes what was kept. */
  retryKept(): Promise<void>;
  /** Deletes what is older than the retention. */
  deleteExpired(turn?: Turn): Promise<void>;
}

const pageSize = 50;
/** Entries that one statement looks at when a user is erased. */
const entriesMax = 2_000;
const dayMs = 24 * 60 * 60_000;

export function createAudit(deps: AuditDeps): Audit {
  const { db, clock, ids, limits, spoolDir } = deps;
  const lists = deps.replicated.current;
  const retentionMs = limits.AUDIT_RETENTION_DAYS * dayMs;
  const { write, writeNetwork } = createEntryWrites(deps);
  const entries = createSafeWrites<NewAuditEntry>({
    ...deps,
    spoolPath: join(spoolDir, 'audit-spool.jsonl'),
    insert: write,
  });
  const security = createSecurityLog({
    ...deps,
    spoolPath: join(spoolDir, 'security-spool.jsonl'),
    failuresPerHour: limits.AUDIT_MAX_FAILURES_PER_HOUR,
  });

  const exports = createExport({ db: lists, clock });

  function entryOf(
    action: AuditAction,
    projectId: string,
    actor: Actor,
    subject: AuditSubject,
    request: RequestInfo,
  ): NewAuditEntry {
    return {
      id: ids.newId('audit'),
      projectId,
      environment: subject.environment ?? null,
      ...actor,
      action,
      resourceType: auditActions[action],
      resourceId: subject.resourceId,
      metadata: subject.metadata ?? {},
      requestId: request.id,
      ipAddress: request.ip,
      userAgent: request.userAgent,
      createdAt: iso(clock.now()),
    };
  }

  const keyNetworks = createKeyNetworks({
    ...deps,
    write: writeNetwork,
    entryOf: (caller, network, request) => {
      const { projectId, environment, publicId: resourceId } = caller;
      const subject = { resourceId, environment, metadata: { network } };
      const masked = { ...request, ip: maskedAddress(request.ip) ?? '' };
      return entryOf('api_key.used_from_new_network', projectId, actorOfKey(caller), subject, masked);
    },
  });

  async function retryKept(): Promise<void> {
    await entries.retryKept();
    await security.retryKept();
  }

  async function deleteExpired(turn = withoutDeadline): Promise<void> {
    if (retentionMs <= 0) return;
    const before = iso(clock.now() - retentionMs);
    await deleteInBatches(
      { turn },
      ...auditTables.map((table) => (limit: number) => deleteExpiredEntries(db, table, before, limit)),
    );
  }

  return {
    chores: [
      { name: 'audit-spool', everyMs: 5_000, run: retryKept, onEveryProcess: true },
      { name: 'audit-retention', everyMs: 60 * 60_000, run: deleteExpired, onDatabaseAlone: true },
    ],

    async stop() {
      await keyNetworks.stop();
      await security.stop();
    },

    recordSecurity: security.record,
    noteKeyUse: keyNetworks.note,

    async record(action, caller, subject, request) {
      const actor = actorOf(caller);
      if (!actor) return;
      const projectId = 'projectId' in caller ? caller.projectId : subject.projectId;
      if (projectId === undefined) return;
      await entries.write(entryOf(action, projectId, actor, subject, request));
    },

    personalData: {
      exports: [{ kind: 'audit_entry', page: (person, place, limit) => listEntriesAbout(db, person, place, limit) }],
      erasures: [{ name: 'audit entries', run: (erasure, place) => renameEntries(db, erasure, place, entriesMax) }],
    },

    retryKept,
    deleteExpired,

    handlers: {
      listAuditLogs: async ({ caller, query }) => {
        const { action, before } = query;
        assertKnown(action);
        if (before !== undefined && !(await hasEntry(lists, caller.projectId, before))) fail('SVC_INVALID_CURSOR');
        return listEntries(lists, caller.projectId, { ...query, limit: query.limit ?? pageSize });
      },
      exportAuditLogs: async ({ caller, query }) => {
        assertKnown(query.action);
        return exports.stream(caller.projectId, query);
      },
      listSecurityLog: ({ caller, query }) => security.list({ ...query, userId: caller.userId }),
      listInstanceSecurityLog: ({ query }) => security.list(query),
    },
  };
}

function assertKnown(action: string | undefined): void {
  if (action !== undefined && !Object.hasOwn(auditActions, action)) fail('SVC_INVALID_ACTION_FILTER');
}

type Actor = Pick<NewAuditEntry, 'actorId' | 'actorEmail'>;

/** A key has no address: its name stands where a person's would. */
const actorOfKey = ({ id, publicId }: ApiKeyCaller): Actor => ({ actorId: id, actorEmail: `API key ${publicId}` });

/** An end user, who has none: a moderator of a conversation. */
const noAccount = '00000000-0000-0000-0000-000000000000';

function actorOf(caller: Caller): Actor | null {
  if (caller.kind === 'session') return { actorId: caller.userId, actorEmail: caller.email };
  if (caller.kind === 'chatToken') return { actorId: noAccount, actorEmail: chatActor(caller.userId) };
  return caller.kind === 'apiKey' ? actorOfKey(caller) : null;
}
