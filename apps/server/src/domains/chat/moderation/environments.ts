import { createCache } from '../../../core/cache.ts';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { findEnvironment, findSettings } from './environment-store.ts';
import { findHook, type StoredHook } from './hook-store.ts';
import { compileLists, type TextRules } from './rules.ts';

/** What there is of moderation in an environment, as a process knows it: never older than a second. */
interface EnvironmentState {
  hasSanctions: boolean;
  hasShadows: boolean;
  /** Null: texts are as users like. */
  rules: TextRules | null;
  /** Who is asked before a message is stored. */
  hook: StoredHook | null;
  /** Who is asked before a file can be fetched. */
  scan: StoredHook | null;
  linkPreviews: boolean;
}

export interface Environments {
  get(scope: ProjectScope): Promise<EnvironmentState>;
  forget(scope: ProjectScope): void;
}

const options = { ttlMs: 1_000, sizeMax: 10_000 };
/** Compiled rules kept; an environment has one. */
const compiledMax = 1_000;

type Wanted = Omit<EnvironmentState, 'hasSanctions' | 'hasShadows'>;
const nothing: Wanted = { rules: null, hook: null, scan: null, linkPreviews: false };

const keyOf = ({ projectId, environment }: ProjectScope): string => `${projectId}/${environment}`;

export function createEnvironments({ db, clock }: { db: Db; clock: Clock }): Environments {
  const states = createCache<EnvironmentState>({ clock, ...options });
  const compiled = new Map<string, { revision: string; wanted: Wanted }>();

  async function wantedOf(scope: ProjectScope, revision: string | null): Promise<Wanted> {
    if (revision === null) return nothing;
    const known = compiled.get(keyOf(scope));
    if (known?.revision === revision) return known.wanted;
    const settings = await findSettings(db, scope);
    const hook = (await findHook(db, 'hook', scope)) ?? null;
    const scan = (await findHook(db, 'scan', scope)) ?? null;
    if (!settings) return nothing;
    const { links, wordLists, linkPreviews } = settings;
    const isFree = links === 'allowed' && wordLists.length === 0;
    const wanted = { rules: isFree ? null : { links, lists: compileLists(wordLists) }, hook, scan, linkPreviews };
    if (compiled.size >= compiledMax) compiled.delete(compiled.keys().next().value ?? '');
    compiled.set(keyOf(scope), { revision, wanted });
    return wanted;
  }

  return {
    get: (scope) =>
      states.get(keyOf(scope), async () => {
        const { revision, ...sanctions } = await findEnvironment(db, scope);
        return { ...sanctions, ...(await wantedOf(scope, revision)) };
      }),
    forget: (scope) => states.drop(keyOf(scope)),
  };
}
