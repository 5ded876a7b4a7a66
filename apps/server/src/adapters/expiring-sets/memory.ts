import type { Clock } from '../../core/clock.ts';
import type { ExpiringEntry, ExpiringSets } from '../../core/ports.ts';

interface Entry {
  value: string;
  expiresAt: number;
}

export function createMemoryExpiringSets(clock: Clock): ExpiringSets {
  const sets = new Map<string, Map<string, Entry>>();

  const live = (set: string): [string, Entry][] => {
    const now = clock.now();
    return [...(sets.get(set) ?? [])].filter(([, entry]) => entry.expiresAt > now);
  };

  function take(set: string, member: string): boolean {
    const members = sets.get(set);
    const wasThere = members?.delete(member) ?? false;
    if (members?.size === 0) sets.delete(set);
    return wasThere;
  }

  /** True when it was not there. */
  function put({ set, member, value = '' }: ExpiringEntry, ttlMs: number): boolean {
    const members = sets.get(set) ?? new Map<string, Entry>();
    sets.set(set, members);
    const now = clock.now();
    const isNew = (members.get(member)?.expiresAt ?? 0) <= now;
    members.set(member, { value, expiresAt: now + ttlMs });
    return isNew;
  }

  function prolong({ set, member }: ExpiringEntry, ttlMs: number): boolean {
    const entry = sets.get(set)?.get(member);
    const now = clock.now();
    if (!entry || entry.expiresAt <= now) return false;
    entry.expiresAt = now + ttlMs;
    return true;
  }

  return {
    touch: async (set, member, ttlMs, value) => ({ isNew: put({ set, member, value }, ttlMs) }),
    touchAll: async (entries, ttlMs) => entries.map((entry) => put(entry, ttlMs)),
    prolongAll: async (entries, ttlMs) => entries.map((entry) => prolong(entry, ttlMs)),
    remove: async (set, member) => take(set, member),
    removeAll: async (entries) => entries.map(({ set, member }) => take(set, member)),
    async includes(set, members) {
      const now = clock.now();
      return members.map((member) => (sets.get(set)?.get(member)?.expiresAt ?? 0) > now);
    },
    members: async (set) => live(set).map(([member, { value, expiresAt }]) => ({ member, value, expiresAt })),
    count: async (set) => live(set).length,
    async sweep(prefix, limit) {
      const now = clock.now();
      const expired: { set: string; member: string; value: string }[] = [];
      for (const [set, members] of sets) {
        if (!set.startsWith(prefix)) continue;
        for (const [member, { value, expiresAt }] of members) {
          if (expiresAt <= now && expired.length < limit) expired.push({ set, member, value });
        }
      }
      for (const { set, member } of expired) take(set, member);
      return expired;
    },
    async close() {
      sets.clear();
    },
  };
}
