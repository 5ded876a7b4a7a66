import { fail, type Limits, type PushDevice, type PutPushDevice } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import { assertScope, type ChatCaller, subjectOf, userOf } from '../chat/index.ts';
import { isUrlAllowed, type UrlRules } from '../webhooks/index.ts';
import { hashOf, hintOf, readAddress } from './addresses.ts';
import { deleteDevice, listDevices, upsertDevice } from './device-store.ts';

interface DeviceDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  limits: Limits;
  rules: UrlRules;
}

export function createDevices({ db, clock, ids, limits, rules }: DeviceDeps) {
  const max = limits.PUSH_MAX_DEVICES_PER_USER;

  async function list(caller: ChatCaller, named: string | undefined): Promise<PushDevice[]> {
    assertScope(caller, 'chat:read');
    return listDevices(db, caller, subjectOf(caller, named), max);
  }

  async function put(caller: ChatCaller, body: PutPushDevice): Promise<PushDevice> {
    assertScope(caller, 'chat:read');
    const userId = subjectOf(caller, body.userId);
    const address = readAddress(body, (url) => isUrlAllowed(url, caller.environment, rules));
    const draft = {
      id: ids.newId('device'),
      userId,
      address,
      addressHash: hashOf(address),
      hint: hintOf(address),
      // A token sees no other conversations, so neither does what it registers.
      conversations: caller.kind === 'chatToken' ? caller.conversations : null,
      at: iso(clock.now()),
    };
    return upsertDevice(db, caller, draft, max);
  }

  async function remove(caller: ChatCaller, id: string): Promise<undefined> {
    assertScope(caller, 'chat:read');
    if ((await deleteDevice(db, caller, id, userOf(caller))) === 0) fail('SVC_DEVICE_NOT_FOUND');
  }

  return { list, put, remove };
}
