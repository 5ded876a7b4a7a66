import type { PushPreferences, SetPushPreferences } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { refuse } from '../../core/validation.ts';
import { assertScope, type ChatCaller, subjectOf } from '../chat/index.ts';
import { findPreferences, upsertPreferences } from './preference-store.ts';
import { isTimeZone } from './quiet-hours.ts';

export function createPreferences({ db, clock }: { db: Db; clock: Clock }) {
  async function get(caller: ChatCaller, named: string | undefined): Promise<PushPreferences> {
    assertScope(caller, 'chat:read');
    const userId = subjectOf(caller, named);
    const found = await findPreferences(db, caller, userId);
    return { userId, level: found?.level ?? null, quietHours: found?.quietHours ?? null };
  }

  async function set(caller: ChatCaller, { userId: named, ...change }: SetPushPreferences): Promise<PushPreferences> {
    assertScope(caller, 'chat:read');
    const userId = subjectOf(caller, named);
    const { quietHours } = change;
    if (quietHours && !isTimeZone(quietHours.timeZone)) {
      const message = 'quietHours.timeZone must be a time zone, for example Europe/Berlin.';
      refuse([{ field: 'quietHours.timeZone', rule: 'timeZone', message }]);
    }
    await upsertPreferences(db, caller, userId, change, iso(clock.now()));
    return get(caller, userId);
  }

  return { get, set };
}
