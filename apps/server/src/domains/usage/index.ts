import { fail, type Usage, type UsageDetail, type UsageQuery, type usageRoutes } from '@parley/contract';
import { createCache } from '../../core/cache.ts';
import type { SessionCaller, SessionProofs } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Domain } from '../../core/part.ts';
import type { UsageCounts } from '../../core/usage-counts.ts';
import { findProject, listOwnedProjects, listProjectsOfOwners, type ProjectName } from '../projects/index.ts';
import { addCounts, addRecorded, raiseStored, takeTick } from './meter-store.ts';
import { createReport, type ReportDeps } from './report.ts';
import { type DayRow, isAnyUnmetered, listDays, listSessions, meterEnded } from './usage-store.ts';

interface UsageDeps extends ReportDeps {
  db: Db;
  clock: Clock;
  /** What the other parts count. */
  usageCounts: UsageCounts;
  freeMinutes: number;
  /** Whether minting stops when the free minutes are used up. Off by default: no operator is locked out of their own server. */
  isEnforced: boolean;
  isAdmitted: SessionProofs['isAdmitted'];
}

interface UsageDomain extends Domain<typeof usageRoutes> {
  /** Fails with SVC_QUOTA_EXCEEDED where the allowance is enforced and used up. Running calls are never cut. */
  assertAllowance(projectId: string): Promise<void>;
  /** Adds ended sessions to the daily rollup. */
  meter(): Promise<void>;
  /** Meters what passes with time: recorded rooms, and what is stored. */
  tick(): Promise<void>;
  /** Stores what was counted. */
  storeCounts(): Promise<void>;
  /** How much of a meter a project and environment used from a day on. */
  used: ReturnType<typeof createReport>['used'];
}

const defaults = { limit: 50, days: 30 } as const;
const meterBatch = 1_000;
/** Of one tick: while no server ran nothing was recorded that we know of. */
const tickMsMax = 5 * 60_000;

export function createUsage(deps: UsageDeps): UsageDomain {
  const { db, clock, usageCounts, freeMinutes, isEnforced, isAdmitted } = deps;
  const { report, csv, prices, setPrices, used } = createReport(deps);
  const usedByOwners = createCache<number>({ clock, ttlMs: 10_000, sizeMax: 10_000 });

  const ownProject = async (projectId: string): Promise<ProjectName[]> => {
    const project = await findProject(db, projectId);
    return project ? [project] : [];
  };
  const ids = (projects: readonly ProjectName[]): string[] => projects.map(({ id }) => id);

  async function summary(projects: readonly ProjectName[], days?: readonly DayRow[]): Promise<Usage> {
    const now = iso(clock.now());
    const rows = days ?? (await listDays(db, ids(projects), now));
    const usedMinutes = minutes(rows.reduce((sum, { seconds }) => sum + seconds, 0));
    return {
      freeMinutes,
      usedMinutes,
      remainingMinutes: Math.max(0, round(freeMinutes - usedMinutes)),
      percentUsed: round((usedMinutes / freeMinutes) * 100),
      // The allowance is not monthly: it has no period.
      periodStart: null,
      periodEnd: null,
      asOf: now,
    };
  }

  async function detail(projects: readonly ProjectName[], query: UsageQuery): Promise<UsageDetail> {
    const now = clock.now();
    const [days, sessions] = await Promise.all([
      listDays(db, ids(projects), iso(now)),
      listSessions(db, ids(projects), iso(now), query.limit ?? defaults.limit),
    ]);
    return {
      ...(await summary(projects, days)),
      sessions: sessions.map((session) => ({
        ...session,
        seconds: round(session.seconds),
        minutes: minutes(session.seconds),
      })),
      daily: dailyOf(days, now, query.days ?? defaults.days),
      projects: projects.map(({ id, name }) => ({
        projectId: id,
        name,
        ...totalOf(days.filter(({ projectId }) => projectId === id)),
      })),
    };
  }

  /** Without those that ask for a second factor which the session has not proven. */
  async function ownedBy(caller: SessionCaller): Promise<ProjectName[]> {
    const owned = await listOwnedProjects(db, caller.userId);
    const admitted = await Promise.all(owned.map(({ id }) => isAdmitted(id, caller)));
    return owned.filter((_, index) => admitted[index]);
  }

  async function meter(): Promise<void> {
    for (let metered = meterBatch; metered === meterBatch; ) {
      metered = await db.transaction((tx) => meterEnded(tx, iso(clock.now()), meterBatch));
    }
  }

  async function storeCounts(): Promise<void> {
    const counted = usageCounts.take();
    if (counted.length === 0) return;
    try {
      await addCounts(db, counted);
    } catch (error) {
      usageCounts.giveBack(counted);
      throw error;
    }
  }

  async function tick(): Promise<void> {
    const now = iso(clock.now());
    const day = now.slice(0, 10);
    await db.transaction(async (tx) => {
      const ms = Math.min(await takeTick(tx, 'usage', now), tickMsMax);
      if (ms > 0) await addRecorded(tx, day, ms);
      await raiseStored(tx, day);
    });
  }

  return {
    meter,
    tick,
    storeCounts,
    used,
    chores: [
      { name: 'usage', everyMs: 5_000, run: meter, isDue: () => isAnyUnmetered, onDatabaseAlone: true },
      { name: 'usage-counts', everyMs: 5_000, run: storeCounts, onEveryProcess: true },
      { name: 'usage-tick', everyMs: 60_000, run: tick, onDatabaseAlone: true },
    ],
    stop: storeCounts,

    async assertAllowance(projectId) {
      if (!isEnforced) return;
      const used = await usedByOwners.get(
        projectId,
        async () => (await summary(await listProjectsOfOwners(db, projectId))).usedMinutes,
      );
      if (used >= freeMinutes) {
        const message = 'The free RTC minutes are used up.';
        fail('SVC_QUOTA_EXCEEDED', { limitMinutes: freeMinutes, usedMinutes: used, message });
      }
    },

    handlers: {
      getUsage: async ({ caller }) =>
        summary(caller.kind === 'apiKey' ? await ownProject(caller.projectId) : await ownedBy(caller)),
      getUsageDetail: async ({ caller, query }) => detail(await ownedBy(caller), query),
      getProjectUsage: async ({ caller, query }) => detail(await ownProject(caller.projectId), query),
      getUsageReport: ({ caller, query }) => report(caller, query),
      getProjectUsageReport: ({ caller, query }) => report(caller, query),
      exportProjectUsage: ({ caller, query }) => csv(caller, query),
      getUsagePrices: ({ caller }) => prices(caller),
      setUsagePrices: ({ caller, body }) => setPrices(caller, body),
    },
  };
}

/** Kept in seconds, rounded only for show. */
const round = (value: number): number => Math.round(value * 1000) / 1000;
const minutes = (seconds: number): number => round(seconds / 60);

const totalOf = (days: readonly DayRow[]): { minutes: number; sessions: number } => ({
  minutes: minutes(days.reduce((sum, { seconds }) => sum + seconds, 0)),
  sessions: days.reduce((sum, { sessions }) => sum + sessions, 0),
});

const dayMs = 24 * 60 * 60 * 1000;

/** UTC days, today first; a day without sessions is a true zero. */
function dailyOf(days: readonly DayRow[], now: number, count: number): UsageDetail['daily'] {
  return Array.from({ length: count }, (_, index) => {
    const date = iso(now - index * dayMs).slice(0, 10);
    return { date, ...totalOf(days.filter(({ day }) => day === date)) };
  });
}
