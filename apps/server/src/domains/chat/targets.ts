import { type ConversationType, fail } from '@parley/contract';
import { createCache } from '../../core/cache.ts';
import type { Clock } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { assertListed, type ChatCaller, isListed } from './callers.ts';
import { findEntry } from './conversations/conversation-store.ts';
import { readReference } from './references.ts';

/** Where a reference leads. It may be a moment old: its user checks that it still leads there. */
export interface Target {
  id: string;
  publicId: string;
  /** Set when it was found by name: names move, ids do not. */
  name: string | null;
  /** Never changes. */
  type: ConversationType;
  /** Names and rooms get other conversations, ids do not. */
  canMove: boolean;
}

export interface Targets {
  /** What the caller's list leaves out is not found. */
  find(caller: ChatCaller, reference: string): Promise<Target>;
  forget(caller: ChatCaller, reference: string): void;
}

const ttlMs = 60_000;
const sizeMax = 20_000;

export function createTargets({ db, clock }: { db: Db; clock: Clock }): Targets {
  const known = createCache<Target>({ clock, ttlMs, sizeMax });
  const keyOf = ({ projectId, environment }: ChatCaller, text: string): string => `${projectId} ${environment} ${text}`;

  const look = (caller: ChatCaller, text: string): Promise<Target> =>
    known.get(keyOf(caller, text), async () => {
      const reference = readReference(text);
      const { by, value } = reference;
      const entry = (await findEntry(db, caller, reference, null)) ?? fail('SVC_CONVERSATION_NOT_FOUND');
      const name = by === 'name' ? value : null;
      const { id, publicId, type } = entry;
      return { id, publicId, name, type, canMove: by === 'name' || by === 'roomId' };
    });

  const forget = (caller: ChatCaller, text: string): void => known.drop(keyOf(caller, text));

  return {
    async find(caller, text) {
      const target = await look(caller, text);
      if (isListed(caller, target.publicId)) return target;
      // It may lead to one that is on the list by now.
      forget(caller, text);
      const current = await look(caller, text);
      assertListed(caller, current.publicId);
      return current;
    },
    forget,
  };
}
