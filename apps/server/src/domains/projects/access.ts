import { hash, timingSafeEqual } from 'node:crypto';
import { type DashboardRole, environmentTags, fail } from '@parley/contract';
import { createCache } from '../../core/cache.ts';
import { type ApiKeyCaller, RefusedKey } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Grant } from '../../core/grant.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import { type Networks, networkList } from '../../core/networks.ts';
import { isSigningKeyId } from '../../core/offline-header.ts';
import type { OriginPolicy } from '../../core/origins.ts';
import type { Bus } from '../../core/ports.ts';
import { isUuid } from '../../core/uuid.ts';
import { findKey, type KeyRecord, touchKey } from './api-key-store.ts';
import { isExpired } from './key-bounds.ts';
import { readKeyText } from './key-text.ts';
import { createLastUse } from './last-use.ts';
import { findRole } from './member-store.ts';
import { findProject, listActive } from './project-store.ts';
import { type SigningKeyRecord, verifyingKey } from './signatures.ts';
import { findSigningKey, touchSigningKey } from './signing-key-store.ts';

/** Who may use a project: asked on every request, so kept in memory, but never for longer than a second. */
export interface Access {
  /** Fails for a key that is over, or is shown from outside its networks. */
  authenticateKey(key: string, ip: string): Promise<ApiKeyCaller>;
  /** For those who keep a connection open: false once the key, of the API or for signing, was revoked or has expired. */
  isKeyActive(keyId: string): Promise<boolean>;
  findSigningKey(id: string): Promise<SigningKeyRecord | undefined>;
  noteSigningKeyUse(id: string): void;
  roleIn(projectId: string, userId: string): Promise<DashboardRole | null>;
  /** Whether members open the project with a second factor only. */
  requiresSecondFactor(projectId: string): Promise<boolean>;
  /** The project's browser origins; fails for a project that is gone or archived. */
  originPolicy(projectId: string): Promise<OriginPolicy>;
  /** Fails for a token of an archived project, or of a key that was revoked with its tokens. */
  assertHolds(grant: Pick<Grant, 'projectId' | 'keyId'>): Promise<void>;
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
  keyring: Pick<Keyring, 'unseal'>;
}

/** Revocation must bite within a second on every process even when the bus is down. */
const cacheTtlMs = 1_000;
const cacheSizeMax = 10_000;
const topic = 'projects/changed';

/** By way of a string: bytes straight from the hash have a memory block of their own each, which costs more than the hash. */
export const hashSecret = (secret: string): Buffer => Buffer.from(hash('sha256', secret, 'binary'), 'binary');

interface KnownKey extends KeyRecord {
  networks: Networks | null;
}

/** An unknown key is compared too, so that it takes as long as a known one. */
const nobody: KnownKey = {
  id: '',
  publicId: '',
  projectId: '',
  environment: 'DEVELOPMENT',
  secretHash: hashSecret('nobody'),
  isRevoked: true,
  areTokensRevoked: false,
  isProjectArchived: false,
  isCreatorGone: false,
  scopes: null,
  expiresAt: null,
  allowedNetworks: null,
  networks: null,
};

interface ProjectState extends OriginPolicy {
  isActive: boolean;
  requireSecondFactor: boolean;
}

export function createAccess({ db, clock, bus, log, keyring }: AccessDeps): Access {
  const options = { clock, ttlMs: cacheTtlMs, sizeMax: cacheSizeMax };
  const keys = createCache<KnownKey | undefined>(options);
  const roles = createCache<DashboardRole | null>(options);
  const projects = createCache<ProjectState | null>(options);
  const signingKeys = createCache<SigningKeyRecord | undefined>(options);
  const noteUse = createLastUse({ clock, log });

  function forget(projectId: string): void {
    keys.dropWhere((record) => record?.projectId === projectId);
    signingKeys.dropWhere((record) => record?.projectId === projectId);
    roles.dropWhere((_role, key) => key.startsWith(projectId));
    projects.drop(projectId);
  }

  const recordOf = (publicId: string): Promise<KnownKey | undefined> =>
    keys.get(publicId, async () => {
      const record = await findKey(db, publicId);
      return record && { ...record, networks: record.allowedNetworks && networkList(record.allowedNetworks) };
    });

  const signingKey = (id: string): Promise<SigningKeyRecord | undefined> =>
    signingKeys.get(id, async () => {
      const stored = await findSigningKey(db, id);
      if (!stored) return undefined;
      const { sealedSecret, publicKey, ...facts } = stored;
      return { ...facts, key: verifyingKey(sealedSecret === null ? null : keyring.unseal(sealedSecret), publicKey) };
    });

  const stateOf = (projectId: string): Promise<ProjectState | null> =>
    projects.get(projectId, async () => {
      const project = await findProject(db, projectId);
      return project ? { ...project, isActive: project.status === 'ACTIVE' } : null;
    });

  return {
    async authenticateKey(key, ip) {
      const { tag, publicId, secret } = readKeyText(key) ?? fail('SVC_INVALID_API_KEY');
      const record = (await recordOf(publicId)) ?? nobody;
      const isRight = timingSafeEqual(hashSecret(secret), record.secretHash);
      // The environment in the text is only a hint: the row decides, and the two must agree.
      if (!isRight || record === nobody || environmentTags[record.environment] !== tag)
        return fail('SVC_INVALID_API_KEY');
      if (record.isProjectArchived || record.isCreatorGone) return fail('SVC_INVALID_API_KEY');
      const { id, projectId, environment, scopes, networks } = record;
      const caller: ApiKeyCaller = { kind: 'apiKey', id, publicId, projectId, environment, scopes };
      if (record.isRevoked) throw new RefusedKey('SVC_API_KEY_REVOKED', caller);
      if (isExpired(record, clock.now())) throw new RefusedKey('SVC_API_KEY_EXPIRED', caller);
      if (networks?.includes(ip) === false) throw new RefusedKey('SVC_NETWORK_NOT_ALLOWED', caller);
      noteUse(publicId, (...when) => touchKey(db, publicId, ip, ...when));
      return caller;
    },

    findSigningKey: signingKey,
    noteSigningKeyUse: (id) => noteUse(id, (...when) => touchSigningKey(db, id, ...when)),

    async isKeyActive(keyId) {
      if (isSigningKeyId(keyId)) return (await signingKey(keyId))?.isRevoked === false;
      const record = await recordOf(keyId);
      if (record === undefined || isExpired(record, clock.now())) return false;
      return !record.isRevoked && !record.isProjectArchived && !record.isCreatorGone;
    },

    async roleIn(projectId, userId) {
      if (!isUuid(projectId)) return null;
      return roles.get(
        `${projectId.toLowerCase()}/${userId}`,
        async () => (await findRole(db, projectId, userId)) ?? null,
      );
    },

    requiresSecondFactor: async (projectId) => (await stateOf(projectId))?.requireSecondFactor ?? false,

    originPolicy: async (projectId) => (await stateOf(projectId)) ?? fail('SVC_PROJECT_NOT_FOUND'),

    async assertHolds({ projectId, keyId }) {
      if (!(await stateOf(projectId))?.isActive) fail('SVC_INVALID_TOKEN');
      if (keyId === null) return;
      const areOver = isSigningKeyId(keyId)
        ? (await signingKey(keyId))?.isRevoked !== false
        : (await recordOf(keyId))?.areTokensRevoked;
      if (areOver) fail('SVC_TOKEN_REVOKED');
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
