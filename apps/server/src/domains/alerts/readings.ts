import type { UsageMeterName } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { iso } from '../../core/clock.ts';
import type { StoredAlert } from './alert-store.ts';
import type { Reading } from './judge.ts';

/** What alerts look at: figures that the other parts have stored. */
export interface Signals {
  joins(scope: ProjectScope, from: string): Promise<{ succeeded: number; failed: number }>;
  /** Endpoints that failed so often in a row, or were disabled for it; of one only where a target is given. */
  failingWebhooks(scope: ProjectScope, failures: number, target: string | null): Promise<FailingWebhook[]>;
  /** Null while it cannot be known. */
  offlineNodes(): Promise<string[] | null>;
  used(scope: ProjectScope, meter: UsageMeterName, from: string): Promise<number>;
}

interface FailingWebhook {
  id: string;
  consecutiveFailures: number;
}

/** With fewer joins than this a rate says nothing. */
const joinsMin = 10;
const minuteMs = 60_000;
const namesMax = 5;

export function createReadings({ joins, failingWebhooks, offlineNodes, used }: Signals) {
  async function joinSuccess(alert: StoredAlert, now: number): Promise<Reading> {
    const window = alert.windowMinutes ?? windowMinutesDefault;
    const { succeeded, failed } = await joins(alert, iso(now - window * minuteMs));
    const all = succeeded + failed;
    if (all === 0) return { holds: false, value: null, detail: null };
    const value = Math.round((succeeded / all) * 1000) / 10;
    const detail = `${failed} of ${all} joins failed in ${window} minutes`;
    // A few joins that all succeeded end it; a few that failed neither begin nor end it.
    if (all < joinsMin) return { holds: failed === 0 ? false : null, value, detail };
    return { holds: (succeeded / all) * 100 < (alert.bound ?? 0), value, detail };
  }

  async function webhooks(alert: StoredAlert): Promise<Reading> {
    const failing = await failingWebhooks(alert, alert.bound ?? 1, alert.target);
    const value = Math.max(0, ...failing.map(({ consecutiveFailures }) => consecutiveFailures));
    return { holds: failing.length > 0, value, detail: namesOf(failing.map(({ id }) => id)) };
  }

  async function nodes({ target }: StoredAlert): Promise<Reading> {
    const all = await offlineNodes();
    if (all === null) return { holds: null, value: null, detail: null };
    const offline = all.filter((name) => target === null || name === target);
    return { holds: offline.length > 0, value: offline.length, detail: namesOf(offline) };
  }

  async function usage(alert: StoredAlert, now: number): Promise<Reading> {
    const today = iso(now).slice(0, 10);
    const from = alert.period === 'MONTH' ? `${today.slice(0, 7)}-01` : today;
    const value = alert.meter === null ? 0 : await used(alert, alert.meter, from);
    return { holds: value > (alert.bound ?? 0), value, detail: `since ${from}` };
  }

  return (alert: StoredAlert, now: number): Promise<Reading> => {
    switch (alert.kind) {
      case 'JOIN_SUCCESS_BELOW':
        return joinSuccess(alert, now);
      case 'WEBHOOK_FAILING':
        return webhooks(alert);
      case 'NODE_OFFLINE':
        return nodes(alert);
      case 'USAGE_ABOVE':
        return usage(alert, now);
    }
  };
}

export const windowMinutesDefault = 15;

function namesOf(names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const more = names.length - namesMax;
  return `${names.slice(0, namesMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
