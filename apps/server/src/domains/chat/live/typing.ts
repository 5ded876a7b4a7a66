import type { Limits, Typing } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Cursors } from '../../../core/cursors.ts';
import type { Answer } from '../../../core/handlers.ts';
import type { ExpiringSets } from '../../../core/ports.ts';
import { type PageOf, pageByUser } from '../dashboard/user-pages.ts';
import type { Hub } from './hub.ts';

interface TypingDeps {
  expiringSets: ExpiringSets;
  cursors: Cursors;
  hub: Hub;
  clock: Clock;
  limits: Limits;
}

export type TypingOf = ReturnType<typeof createTyping>;

const sweepMax = 500;
const setOf = (conversationId: string): string => `typing/${conversationId}`;

export function createTyping({ expiringSets, cursors, hub, clock, limits }: TypingDeps) {
  const ttlMs = limits.CHAT_TYPING_TTL_SECONDS * 1000;

  /** `startedAt` is when this typing began: the client repeats itself while it lasts. */
  async function start(conversationId: string, userId: string, startedAt: number, except?: string): Promise<void> {
    await expiringSets.touch(setOf(conversationId), userId, ttlMs, iso(startedAt));
    const expiresAt = iso(clock.now() + ttlMs);
    hub.broadcast(conversationId, 'typing', { userId, typing: true, expiresAt }, except);
  }

  /** False when nobody was told that they type. */
  async function stop(conversationId: string, userId: string, except?: string): Promise<boolean> {
    const wasTyping = await expiringSets.remove(setOf(conversationId), userId);
    if (wasTyping) publishStop(conversationId, userId, except);
    return wasTyping;
  }

  const publishStop = (conversationId: string, userId: string, except?: string): void =>
    hub.broadcast(conversationId, 'typing', { userId, typing: false, expiresAt: null }, except);

  /** `only` is who sees nobody but themselves. */
  async function list(conversationId: string, query: PageOf, only?: string): Promise<Answer<Typing[]>> {
    const all = await expiringSets.members(setOf(conversationId));
    const members = all.filter(({ member }) => only === undefined || member === only);
    const users = members.map(({ member, value, expiresAt }) => ({
      userId: member,
      startedAt: value,
      expiresAt: iso(expiresAt),
    }));
    return pageByUser(cursors, setOf(conversationId), users, query);
  }

  async function sweep(): Promise<void> {
    for (const { set, member } of await expiringSets.sweep('typing/', sweepMax)) {
      publishStop(set.slice('typing/'.length), member);
    }
  }

  return { start, stop, list, sweep };
}
