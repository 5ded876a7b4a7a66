import { fail } from '@parley/contract';
import { createCache } from '../../core/cache.ts';
import type { Clock } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { ChatCaller } from './callers.ts';
import { findEntry } from './conversation-store.ts';
import { readReference } from './references.ts';

/** Where a reference leads. It may be a moment old: the statement that uses it checks the name again. */
export interface Target {
  id: string;
  publicId: string;
  /** Set when it was found by name: names move, ids do not. */
  name: string | null;
}

export interface Targets {
  find(caller: ChatCaller, reference: string): Promise<Target>;
  forget(caller: ChatCaller, reference: string): void;
}

const ttlMs = 60_000;
const sizeMax = 20_000;

export function createTargets({ db, clock }: { db: Db; clock: Clock }): Targets {
  const known = createCache<Target>({ clock, ttlMs, sizeMax });
  const keyOf = ({ projectId, environment }: ChatCaller, text: string): string => `${projectId} ${environment} ${text}`;

  return {
    find: (caller, text) =>
      known.get(keyOf(caller, text), async () => {
        const reference = readReference(text);
        const entry = (await findEntry(db, caller, reference, null)) ?? fail('SVC_CONVERSATION_NOT_FOUND');
        return { id: entry.id, publicId: entry.publicId, name: reference.by === 'name' ? reference.value : null };
      }),
    forget: (caller, text) => known.drop(keyOf(caller, text)),
  };
}
