import { type Environment, fail, type ModerationHook, type NewModerationHook, type SetHook } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Keyring } from '../../../core/keyring.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import {
  deleteHook,
  findHook,
  type HookKind,
  listSealedHooks,
  replaceSealedHook,
  rotateHookSecret,
  type StoredHook,
  upsertHook,
} from './hook-store.ts';
import type { ChatStanding } from './standing.ts';

/** What chat asks of webhooks: a signed question to an address that they may reach. */
export interface AsksBackends {
  checkUrl(url: string, environment: Environment): void;
  makeSecret(): { secret: string; sealed: string; hint: string };
  hintOf(sealed: string): string;
  ask(question: {
    id: string;
    type: string;
    projectId: string;
    environment: Environment;
    createdAt: string;
    url: string;
    data: string;
    sealedSecrets: readonly string[];
    timeoutMs: number;
  }): Promise<string | null>;
}

interface HookDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  unitOfWork: UnitOfWork;
  keyring: Keyring;
  callouts: AsksBackends;
  chatStanding: Pick<ChatStanding, 'announce'>;
}

export type HookSettings = ReturnType<typeof createHookSettings>;

const asked = { hook: 'message.pre_send', scan: 'attachment.scan' } as const;
const timeoutDefaultMs = 1_000;
/** How long calls are signed with the secret before, too. */
const graceMs = 24 * 60 * 60_000;

/** What a call is signed with: for a while after a rotation by the one before, too. */
export function signingSecrets({ secret, previousSecret, previousUntil }: StoredHook, now: number): string[] {
  const isOverlap = previousUntil !== null && Date.parse(previousUntil) > now;
  return previousSecret !== null && isOverlap ? [secret, previousSecret] : [secret];
}

/** A hook of an environment: where it is, and its secret. */
export function createHookSettings(deps: HookDeps, kind: HookKind = 'hook') {
  const { db, clock, ids, unitOfWork, keyring, callouts, chatStanding } = deps;
  const show = ({ url, timeoutMs, onFailure, secret }: StoredHook): ModerationHook => ({
    url,
    timeoutMs,
    onFailure,
    secretHint: callouts.hintOf(secret),
  });

  const subject = ({ projectId, environment }: ProjectScope, change: string) => ({
    resourceId: projectId,
    environment,
    metadata: { [kind]: change },
  });

  /** Of the address only what cannot be a secret. */
  function emitUpdated(emit: Emit, action: 'set' | 'rotated' | 'removed', hook: StoredHook | null): void {
    const told = hook && { origin: new URL(hook.url).origin, timeoutMs: hook.timeoutMs, onFailure: hook.onFailure };
    const data = { asked: asked[kind], action, hook: told, at: iso(clock.now()) };
    emit({ type: 'moderation_hook.updated', data });
  }

  async function find(scope: ProjectScope): Promise<ModerationHook | null> {
    const hook = await findHook(db, kind, scope);
    return hook ? show(hook) : null;
  }

  return {
    find,
    get: async (scope: ProjectScope): Promise<ModerationHook> => (await find(scope)) ?? fail('SVC_HOOK_NOT_FOUND'),

    async set(caller: ProjectScope, body: SetHook): Promise<Answer<NewModerationHook>> {
      const { url, timeoutMs = timeoutDefaultMs, onFailure = 'open' } = body;
      callouts.checkUrl(url, caller.environment);
      const { secret, sealed } = callouts.makeSecret();
      const draft = { url, timeoutMs, onFailure, secret: sealed, revision: ids.newUuid(), at: iso(clock.now()) };
      const hook = await unitOfWork(caller, async (tx, emit) => {
        const stored = await upsertHook(tx, kind, caller, draft);
        emitUpdated(emit, 'set', stored);
        return stored;
      });
      chatStanding.announce(caller);
      return recorded({ ...show(hook), secret: hook.secret === sealed ? secret : null }, subject(caller, 'set'));
    },

    async rotate(caller: ProjectScope): Promise<Answer<NewModerationHook>> {
      const { secret, sealed } = callouts.makeSecret();
      const previousUntil = iso(clock.now() + graceMs);
      const draft = { secret: sealed, previousUntil, revision: ids.newUuid() };
      const hook = await unitOfWork(caller, async (tx, emit) => {
        const stored = (await rotateHookSecret(tx, kind, caller, draft)) ?? fail('SVC_HOOK_NOT_FOUND');
        emitUpdated(emit, 'rotated', stored);
        return stored;
      });
      chatStanding.announce(caller);
      return recorded({ ...show(hook), secret }, subject(caller, 'rotated'));
    },

    async remove(caller: ProjectScope): Promise<Answer<undefined>> {
      const revision = ids.newUuid();
      const isGone = await unitOfWork(caller, async (tx, emit) => {
        const isDeleted = await deleteHook(tx, kind, caller, revision);
        if (isDeleted) emitUpdated(emit, 'removed', null);
        return isDeleted;
      });
      chatStanding.announce(caller);
      return recorded(undefined, isGone ? subject(caller, 'removed') : null);
    },

    /** Seals anew what was sealed under the SECRET_KEY before this one. */
    async renewSealed(): Promise<void> {
      if (!keyring.isRotating) return;
      for (const old of await listSealedHooks(db, kind)) {
        const [secret, previous] = [old.secret, old.previousSecret].map(
          (text) => text && (keyring.renew(text) ?? text),
        );
        const fresh = { ...old, secret: secret ?? old.secret, previousSecret: previous ?? null };
        if (fresh.secret !== old.secret) await replaceSealedHook(db, kind, old, fresh, ids.newUuid());
      }
    },
  };
}
