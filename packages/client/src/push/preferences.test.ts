import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { sharedService } from '../../../../apps/server/testkit/kit/shared-service.ts';
import { getPushPreferences, setPushPreferences } from './index.ts';

test('[SDK-145] a page reads and sets what its user is told of, and when not; what is left out stays', async () => {
  const service = await sharedService();
  const kit = await createChatKit(service);
  const options = { url: `${service.url}/`, token: async () => (await kit.user('ada')).token };
  assert.deepEqual(await getPushPreferences(options), { userId: 'ada', level: null, quietHours: null });
  const quietHours = { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin' };
  await setPushPreferences(options, { quietHours });
  const both = { userId: 'ada', level: 'MENTIONS', quietHours };
  assert.deepEqual(await setPushPreferences(options, { level: 'MENTIONS' }), both);
  assert.deepEqual(await getPushPreferences(options), both);
  const { api } = kit.project;
  assert.deepEqual(await api.call('getPushPreferences', { query: { userId: 'ada' } }), both);
  const reset = await setPushPreferences(options, { level: null, quietHours: null });
  assert.deepEqual([reset.level, reset.quietHours], [null, null]);
  const nowhere = { ...quietHours, timeZone: 'Mars/Olympus' };
  await assert.rejects(setPushPreferences(options, { quietHours: nowhere }), { code: 'SVC_VALIDATION_FAILED' });
});
