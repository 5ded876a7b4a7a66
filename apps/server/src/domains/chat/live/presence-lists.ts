import type { Presence } from '@parley/contract';
import { iso } from '../../../core/clock.ts';
import type { Cursors } from '../../../core/cursors.ts';
import type { Answer } from '../../../core/handlers.ts';
import type { ExpiringSets } from '../../../core/ports.ts';
import { type PageOf, pageByUser } from '../dashboard/user-pages.ts';
import { awayOf, byUser, combined, connectionsOf, type Seen, usersOf } from './presence-sets.ts';

interface PresenceListsDeps {
  expiringSets: Pick<ExpiringSets, 'members' | 'includes'>;
  cursors: Cursors;
  ttlMs: number;
}

/** Who is present, as the shared store says. */
export function createPresenceLists({ expiringSets, cursors, ttlMs }: PresenceListsDeps) {
  async function connections(conversationId: string): Promise<Seen[]> {
    const members = await expiringSets.members(connectionsOf(conversationId));
    return members.map(({ value, expiresAt }) => {
      // We wrote it.
      const seen = JSON.parse(value) as Seen;
      return seen.beats ? { ...seen, lastSeenAt: Math.max(seen.lastSeenAt, expiresAt - ttlMs) } : seen;
    });
  }

  /** Who is present, without more about them. */
  const users = async (conversationId: string): Promise<string[]> =>
    (await expiringSets.members(usersOf(conversationId))).map(({ member }) => member);

  /** `only` is who sees nobody but themselves. */
  async function list(conversationId: string, query: PageOf, only?: string): Promise<Answer<Presence[]>> {
    const all = (await connections(conversationId)).filter(({ userId }) => only === undefined || userId === only);
    const present = [...byUser(all)].map(([userId, own]) => ({
      userId,
      status: combined(own),
      since: iso(Math.min(...own.map(({ since }) => since))),
      lastSeenAt: iso(Math.max(...own.map(({ lastSeenAt }) => lastSeenAt))),
      connections: own.length,
    }));
    return pageByUser(cursors, connectionsOf(conversationId), present, query);
  }

  /** Which of these users look at the conversation: present, and not away; in their order. */
  async function areOnline(conversationId: string, userIds: readonly string[]): Promise<boolean[]> {
    const [present, away] = await Promise.all(
      [usersOf(conversationId), awayOf(conversationId)].map((set) => expiringSets.includes(set, userIds)),
    );
    return userIds.map((_, at) => present?.[at] === true && away?.[at] !== true);
  }

  return { connections, users, list, areOnline };
}
