import { Readable } from 'node:stream';
import {
  roleMay,
  type UsageAmounts,
  type UsageMeterName,
  type UsagePrices,
  type UsageReport,
  type UsageReportQuery,
  usageMeters,
} from '@parley/contract';
import type { ApiKeyCaller, ProjectScope, ProjectSessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, recorded, Stream } from '../../core/handlers.ts';
import { refuse } from '../../core/validation.ts';
import { costOf, fromPrices, moneyOf, toPrices } from './costs.ts';
import { listMeters, type MeterRow } from './meter-store.ts';
import { deletePrices, findPrices, type StoredPrices, upsertPrices } from './price-store.ts';

export interface ReportDeps {
  db: Db;
  clock: Clock;
  assertNotArchived: (projectId: string) => Promise<void>;
}

const dayMs = 24 * 60 * 60 * 1000;
const daysDefault = 30;
const daysMax = 366;

/** Usage by day and by key, and what the operator's prices make of it. */
export function createReport({ db, clock, assertNotArchived }: ReportDeps) {
  async function read(scope: ProjectScope, query: UsageReportQuery) {
    const range = rangeOf(query, clock.now());
    const [rows, prices] = await Promise.all([
      listMeters(db, scope, { ...range, now: iso(clock.now()) }),
      findPrices(db, scope.projectId),
    ]);
    return { range, rows, prices };
  }

  return {
    async report(caller: ApiKeyCaller | ProjectSessionCaller, query: UsageReportQuery): Promise<UsageReport> {
      const { range, rows, prices } = await read(caller, query);
      const byDay = Map.groupBy(rows, ({ day }) => day);
      const byKey = [...Map.groupBy(rows, ({ keyId }) => keyId)].sort(([a], [b]) => (a < b ? -1 : 1));
      return {
        ...range,
        currency: prices?.currency ?? null,
        days: daysOf(range).map((date) => ({ date, ...amountsOf(byDay.get(date) ?? [], prices) })),
        keys: seesKeys(caller)
          ? byKey.map(([keyId, some]) => ({ keyId: keyId === '' ? null : keyId, ...amountsOf(some, prices) }))
          : null,
        total: amountsOf(rows, prices),
        asOf: iso(clock.now()),
      };
    },

    async csv(caller: ProjectSessionCaller, query: UsageReportQuery): Promise<Stream> {
      const { rows, prices } = await read(caller, query);
      return new Stream(Readable.from([csvOf(rows, prices, seesKeys(caller))]), () => {});
    },

    prices: async ({ projectId }: ProjectScope): Promise<UsagePrices> => toPrices(await findPrices(db, projectId)),

    async setPrices({ projectId }: ProjectScope, given: UsagePrices): Promise<Answer<UsagePrices>> {
      await assertNotArchived(projectId);
      const prices = fromPrices(given);
      await db.transaction((tx) =>
        prices === null ? deletePrices(tx, projectId) : upsertPrices(tx, projectId, prices, iso(clock.now())),
      );
      // That they changed, never the new values.
      return recorded(toPrices(prices ?? undefined), { resourceId: projectId });
    },

    /** How much of a meter was used from a day on, in the unit that people speak of: minutes, not milliseconds. */
    async used(scope: ProjectScope, meter: UsageMeterName, from: string): Promise<number> {
      const now = iso(clock.now());
      const rows = await listMeters(db, scope, { from, to: now.slice(0, 10), now });
      return amountsOf(rows, undefined)[meter];
    },
  };
}

const seesKeys = (caller: ApiKeyCaller | ProjectSessionCaller): boolean =>
  caller.kind === 'apiKey' || roleMay(caller.role, 'api_key:read', caller.environment);

function rangeOf({ from, to }: UsageReportQuery, now: number): { from: string; to: string } {
  const last = to ?? iso(now).slice(0, 10);
  const first = from ?? iso(Date.parse(last) - (daysDefault - 1) * dayMs).slice(0, 10);
  const days = (Date.parse(last) - Date.parse(first)) / dayMs;
  // The database knows no year 0.
  if (first >= '0001' && days >= 0 && days < daysMax) return { from: first, to: last };
  const message = `from must not be after to, and at most ${daysMax} days are reported.`;
  return refuse([{ field: 'from', rule: 'range', message }]);
}

/** UTC days, the newest first. */
function daysOf({ from, to }: { from: string; to: string }): string[] {
  const count = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  return Array.from({ length: count }, (_, index) => iso(Date.parse(to) - index * dayMs).slice(0, 10));
}

function amountsOf(rows: readonly MeterRow[], prices: StoredPrices | undefined): UsageAmounts {
  const of = (meter: UsageMeterName): number[] => rows.filter((row) => row.meter === meter).map(({ value }) => value);
  const sum = (meter: UsageMeterName): number => of(meter).reduce((total, value) => total + value, 0);
  const cost = rows.reduce((total, { meter, value }) => total + costOf(meter, value, prices), 0n);
  return {
    messages: sum('messages'),
    minutes: minutes(sum('minutes')),
    recordedMinutes: minutes(sum('recordedMinutes')),
    storedBytes: Math.max(0, ...of('storedBytes')),
    sentBytes: sum('sentBytes'),
    cost: prices === undefined ? null : moneyOf(cost),
  };
}

/** Rounded only for show. */
const minutes = (ms: number): number => Math.round(ms / 60) / 1000;

const columns = ['date', 'key', 'meter', 'amount', 'unit', 'price', 'price_per', 'currency', 'cost'];

/** Every value is our own text or a number: none needs quotes but those with a comma, and none begins a formula. */
function csvOf(rows: readonly MeterRow[], prices: StoredPrices | undefined, showsKeys: boolean): string {
  const shown = toPrices(prices);
  const lines = (showsKeys ? rows : withoutKeys(rows)).map(({ day, meter, keyId, value }) => {
    const { stored, priced } = usageMeters[meter];
    const price = shown[meter];
    const cost = price === null ? '' : moneyOf(costOf(meter, value, prices));
    return [day, keyId, meter, value, stored, price ?? '', `"${priced}"`, prices?.currency ?? '', cost].join(',');
  });
  return [columns.join(','), ...lines, ''].join('\r\n');
}

function withoutKeys(rows: readonly MeterRow[]): MeterRow[] {
  return [...Map.groupBy(rows, ({ day, meter }) => `${day} ${meter}`).values()].flatMap((some) => {
    const [first] = some;
    const value = some.reduce((sum, row) => sum + row.value, 0);
    return first ? [{ ...first, keyId: '', value }] : [];
  });
}
