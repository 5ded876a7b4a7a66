import { hash, timingSafeEqual } from 'node:crypto';
import { type DashboardRole, environmentTags, fail } from '@parley/contract';
import { createCache } from '../../core/cache.ts';
import type { ApiKeyCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Log } from '../../core/log.ts';
import type { OriginPolicy } from '../../core/origins.ts';
import type { Bus } from '../../core/ports.ts';
import { isUuid } from '../../core/uuid.ts';
import { findKey, type KeyRecord, touchKey } from './api-key-store.ts';
import { findRole } from './member-store.ts';
import { findProject, listActive } from './project-store.ts';

/** Who may use a project: asked on every request, so kept in memory, but never for longer than a second. */
export interface Access {
  authenticateKey(key: string): Promise<ApiKeyCaller>;
  /** For those who keep a connection open: false once the key was revoked. */
  isKeyActive(publicId: string): Promise<boolean>;
  roleIn(projectId: string, userId: string): Promise<DashboardRole | null>;
  /** The project's browser origins; fails for a project that is gone or archived. */
  originPolicy(projectId: string): Promise<OriginPolicy>;
  /** Fails unless the project exists and is active: tokens of an archived project are worth nothing. */
  assertActive(projectId: string): Promise<void>;
  /** Which of these projects are gone or archived, as the store has it now. */
  inactiveOf(projectIds: readonly string[]): Promise<string[]>;
  /** Fails for an archived project: it takes nothing new, from its owner either. */
  assertNotArchived(projectId: string): Promise<void>;
  /** Call after any change to a project, its members or keys: every process forgets what it knew. */
  forgetProject(projectId: string): void;
  start(): Promise<void>;
}

export interface AccessDeps {
  db: Db;
  clock: Clock;
  bus: Bus;
  log: Log;
}

/** Revocation must bite within a second on every process even when the bus is down. */
const cacheTtlMs = 1_000;
const cacheSizeMax = 10_000;
const topic = 'projects/changed';
const touchEveryMs = 60_000;

const keyPattern = /^svk_(dev|prod)_([A-Za-z0-9]{16})\.([A-Za-z0-9]{43})$/;

/** By way of a string: bytes straight from the hash have a memory block of their own each, which costs more than the hash. */
export const hashSecret = (secret: string): Buffer => Buffer.from(hash('sha256', secret, 'binary'), 'binary');

/** An unknown key is compared too, so that it takes as long as a known one. */
const nobody: KeyRecord = {
  publicId: '',
  projectId: '',
  environment: 'DEVELOPMENT',
  secretHash: hashSecret('nobody'),
  isRevoked: true,
  isProjectArchived: false,
  isCreatorGone: false,
};

interface ProjectState extends OriginPolicy {
  isActive: boolean;
}

export function createAccess({ db, clock, bus, log }: AccessDeps): Access {
  const options = { clock, ttlMs: cacheTtlMs, sizeMax: cacheSizeMax };
  const keys = createCache<KeyRecord | undefined>(options);
  const roles = createCache<DashboardRole | null>(options);
  const projects = createCache<ProjectState | null>(options);
  const touched = new Map<string, number>();

  function forget(projectId: string): void {
    keys.dropWhere((record) => record?.projectId === projectId);
    roles.dropWhere((_role, key) => key.startsWith(projectId));
    projects.drop(projectId);
  }

  function noteUse(publicId: string): void {
    const now = clock.now();
    if (now - (touched.get(publicId) ?? 0) < touchEveryMs) return;
    if (touched.size >= cacheSizeMax) touched.clear();
    touched.set(publicId, now);
    touchKey(db, publicId, iso(now), iso(now - touchEveryMs)).catch((error) =>
      log.warn({ error, publicId }, 'last use of an API key not noted'),
    );
  }

  const stateOf = (projectId: string): Promise<ProjectState | null> =>
    projects.get(projectId, async () => {
      const project = await findProject(db, projectId);
      return project ? { ...project, isActive: project.status === 'ACTIVE' } : null;
    });

  return {
    async authenticateKey(key) {
      const [, tag, publicId, secret] = keyPattern.exec(key) ?? [];
      if (publicId === undefined || secret === undefined) return fail('SVC_INVALID_API_KEY');
      const record = (await keys.get(publicId, () => findKey(db, publicId))) ?? nobody;
      const isRight = timingSafeEqual(hashSecret(secret), record.secretHash);
      // The environment in the text is only a hint: the row decides, and the two must agree.
      if (!isRight || record === nobody || environmentTags[record.environment] !== tag)
        return fail('SVC_INVALID_API_KEY');
      if (record.isRevoked) return fail('SVC_API_KEY_REVOKED');
      if (record.isProjectArchived || record.isCreatorGone) return fail('SVC_INVALID_API_KEY');
      noteUse(publicId);
      return { kind: 'apiKey', publicId, projectId: record.projectId, environment: record.environment };
    },

    async isKeyActive(publicId) {
      const record = await keys.get(publicId, () => findKey(db, publicId));
      return record !== undefined && !record.isRevoked && !record.isProjectArchived && !record.isCreatorGone;
    },

    async roleIn(projectId, userId) {
      if (!isUuid(projectId)) return null;
      return roles.get(
        `${projectId.toLowerCase()}/${userId}`,
        async () => (await findRole(db, projectId, userId)) ?? null,
      );
    },

    originPolicy: async (projectId) => (await stateOf(projectId)) ?? fail('SVC_PROJECT_NOT_FOUND'),

    async assertActive(projectId) {
      if (!(await stateOf(projectId))?.isActive) fail('SVC_INVALID_TOKEN');
    },

    async inactiveOf(projectIds) {
      if (projectIds.length === 0) return [];
      const active = new Set(await listActive(db, projectIds));
      return projectIds.filter((id) => !active.has(id));
    },

    async assertNotArchived(projectId) {
      if (!(await stateOf(projectId))?.isActive) fail('SVC_PROJECT_ARCHIVED');
    },

    forgetProject: (projectId) => bus.publish(topic, projectId),

    async start() {
      await bus.subscribe(topic, (projectId) => forget(String(projectId)));
    },
  };
}
