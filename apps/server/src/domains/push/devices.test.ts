import assert from 'node:assert/strict';
import { createECDH, generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, refusal } from '../../../testkit/chat/chat.ts';
import { apns, fcm, newSubscription, webPush } from '../../../testkit/clients/push-devices.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { createKeyring } from '../../core/keyring.ts';
import { createLog } from '../../core/log.ts';
import { sql } from '../../core/sql.ts';
import { isQuiet } from './quiet-hours.ts';
import { createSettings } from './settings.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env: { PUSH_MAX_DEVICES_PER_USER: '3' } });
  chat = await createChatKit(service);
});
after(() => service.stop());

const push = 'https://push.example.com/send';

test('[PUSH-1] a user registers, lists and removes their own devices, an API key those of anybody', async () => {
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const { api } = chat.project;
  const phone = await alice.api.call('putPushDevice', { body: webPush(newSubscription(`${push}/a1`)) });
  assert.deepEqual([phone.userId, phone.kind, phone.hint], ['alice', 'WEB_PUSH', 'push.example.com']);
  const named = await alice.api.call('putPushDevice', { body: { ...fcm('token-of-a-phone'), userId: 'bob' } });
  assert.equal(named.userId, 'alice', 'a token speaks for its own user');
  const tablet = await api.call('putPushDevice', { body: { ...apns('0a'.repeat(32)), userId: 'alice' } });
  assert.deepEqual([tablet.userId, tablet.hint], ['alice', '0a0a']);
  await assertRefused(api.call('putPushDevice', { body: fcm('x') }), 400, 'SVC_USER_REQUIRED');

  const listed = await alice.api.call('listPushDevices', {});
  assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set([phone.id, named.id, tablet.id]));
  assert.deepEqual(await api.call('listPushDevices', { query: { userId: 'alice' } }), listed);
  assert.ok(!JSON.stringify(listed).includes('/a1'), 'the address is not shown');
  assert.deepEqual(await bob.api.call('listPushDevices', {}), []);
  await assertRefused(bob.api.call('deletePushDevice', { deviceId: phone.id }), 404, 'SVC_DEVICE_NOT_FOUND');
  await alice.api.call('deletePushDevice', { deviceId: phone.id });
  await api.call('deletePushDevice', { deviceId: tablet.id });
  assert.deepEqual(
    (await alice.api.call('listPushDevices', {})).map(({ id }) => id),
    [named.id],
  );
  const blind = await chat.user('alice', { scopes: ['chat:send'] });
  await assertRefused(blind.api.call('putPushDevice', { body: fcm('x') }), 403, 'SVC_SCOPE_MISSING');
});

test('[PUSH-2] the same endpoint or token moves to its newest user, and the oldest of too many makes room, also in a race', async () => {
  const [cleo, dan] = [await chat.user('cleo'), await chat.user('dan')];
  const body = webPush(newSubscription(`${push}/shared`));
  const first = await cleo.api.call('putPushDevice', { body });
  const moved = await dan.api.call('putPushDevice', { body });
  assert.deepEqual([moved.id, moved.userId], [first.id, 'dan']);
  assert.deepEqual(await cleo.api.call('listPushDevices', {}), []);

  const put = (token: string) => dan.api.call('putPushDevice', { body: fcm(token) });
  const [second] = [await put('t1'), await put('t2')];
  await put('t3');
  const kept = await dan.api.call('listPushDevices', {});
  assert.deepEqual([kept.length, kept.some(({ id }) => id === first.id)], [3, false]);
  await put('t1');
  await put('t4');
  assert.ok(
    (await dan.api.call('listPushDevices', {})).some(({ id }) => id === second.id),
    'a renewed one is young',
  );
  await Promise.all(Array.from({ length: 12 }, (_, at) => put(`race${at}`)));
  const stored = await service.adapters.db.query(sql`select id from push_devices where user_id = 'dan'`);
  assert.equal(stored.length, 3);
});

test('[PUSH-3] a device that could never be reached is refused', async () => {
  const alice = await chat.user('alice');
  const good = webPush(newSubscription(`${push}/x`));
  const offCurve = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
  const compressed = createECDH('prime256v1').generateKeys('base64url', 'compressed');
  const bad: [object, string][] = [
    [{ ...good, endpoint: 'http://169.254.169.254/latest' }, 'endpoint'],
    [{ ...good, endpoint: 'https://intranet/x' }, 'endpoint'],
    [{ ...good, endpoint: 'ftp://push.example.com' }, 'endpoint'],
    [{ kind: 'WEB_PUSH' }, 'endpoint'],
    [{ ...good, keys: { ...good.keys, p256dh: offCurve } }, 'keys.p256dh'],
    [{ ...good, keys: { ...good.keys, p256dh: compressed } }, 'keys.p256dh'],
    [{ ...good, keys: { ...good.keys, auth: 'c2hvcnQ' } }, 'keys.auth'],
    [{ kind: 'FCM' }, 'token'],
    [{ kind: 'FCM', token: 'two words' }, 'token'],
    [{ kind: 'APNS', token: 'no hex', topic: 'a.b' }, 'token'],
    [{ kind: 'APNS', token: 'ab'.repeat(32) }, 'topic'],
  ];
  for (const [body, field] of bad) {
    const refused = await refusal(alice.api.call('putPushDevice', { body: body as never }));
    assert.equal(refused.code, 'SVC_VALIDATION_FAILED', JSON.stringify(body));
    const fields = (refused.body['details'] as { field: string }[]).map((one) => one.field);
    assert.ok(fields.includes(field), `${fields} for ${JSON.stringify(body)}`);
  }
  const production = service.as(await chat.project.newKey('PRODUCTION'));
  const plain = { ...good, endpoint: 'http://push.example.com/x', userId: 'alice' };
  await assertRefused(production.call('putPushDevice', { body: plain }), 400, 'SVC_VALIDATION_FAILED');
});

const rotatedKey = 'another secret key of this test';

const pemOf = (kind: 'rsa' | 'ec'): string => {
  const { privateKey } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

test('[PUSH-4] keys are made once, sealed at rest, renewed with SECRET_KEY and never shown', async () => {
  const { api, id: projectId } = (await createChatKit(service)).project;
  const keys = await Promise.all(Array.from({ length: 8 }, () => api.call('getPushKey', {})));
  assert.equal(new Set(keys.map(({ publicKey }) => publicKey)).size, 1);
  assert.equal(Buffer.from(keys[0]?.publicKey ?? '', 'base64url').length, 65);
  const [rsa, curve] = [pemOf('rsa'), pemOf('ec')];
  const fcm = { project_id: 'chat-1', client_email: 'push@chat-1.iam.example', private_key: rsa };
  const apns = { teamId: 'TEAM123456', keyId: 'KEY1234567', key: curve };
  const settings = await api.call('updatePushSettings', { body: { content: 'PREVIEW', level: 'MENTIONS', fcm, apns } });
  assert.deepEqual(
    [settings.content, settings.level, settings.fcm, settings.apns],
    [
      'PREVIEW',
      'MENTIONS',
      { projectId: 'chat-1', clientEmail: 'push@chat-1.iam.example' },
      { teamId: 'TEAM123456', keyId: 'KEY1234567' },
    ],
  );
  assert.deepEqual(await api.call('getPushSettings', {}), settings);
  const mine = sql`select * from push_settings where project_id = ${projectId}`;
  const [row] = await service.adapters.db.query(mine);
  assert.ok(!JSON.stringify([row, settings]).includes('PRIVATE KEY'));

  const { secretKey } = service.config;
  const rotated = createKeyring(rotatedKey, secretKey);
  const log = createLog('silent');
  const renewal = createSettings({ ...service, ...service.adapters, keyring: rotated, log, publicUrl: '' });
  assert.ok((await renewal.renewSealed()) >= 1);
  const [renewed] = await service.adapters.db.query<Record<string, string>>(mine);
  const open = (name: string) => createKeyring(rotatedKey).unseal(renewed?.[name] ?? '');
  assert.deepEqual([open('fcm_sealed'), open('apns_sealed')], [rsa, curve]);
  assert.equal(Buffer.from(open('vapid_sealed'), 'base64url').length, 32);

  for (const body of [
    { fcm: { ...fcm, private_key: curve } },
    { fcm: { ...fcm, private_key: 'nothing' } },
    { apns: { ...apns, key: rsa } },
    { apns: { ...apns, teamId: 'x' } },
    { webPushSubject: 'me' },
  ])
    await assertRefused(api.call('updatePushSettings', { body }), 400, 'SVC_VALIDATION_FAILED');
  const without = await api.call('updatePushSettings', { body: { fcm: null } });
  assert.deepEqual([without.fcm, without.apns?.keyId], [null, 'KEY1234567']);
});

test('[PUSH-4] a change of settings is audited without values', async () => {
  const { project } = await createChatKit(service);
  await project.api.call('updatePushSettings', { body: { content: 'PREVIEW' } });
  await project.api.call('updatePushSettings', { body: {} });
  const entries = await project.owner.api.call('listAuditLogs', { projectId: project.id });
  const ours = entries.filter(({ action }) => action === 'push.updated');
  assert.deepEqual(
    ours.map(({ metadata, environment }) => [metadata, environment]),
    [[{ changed: ['content'] }, 'DEVELOPMENT']],
  );
});

test('[DASH-98] the dashboard sees which keys are set and how many devices there are, and who may changes them', async () => {
  const { project } = await createChatKit(service);
  const of = { projectId: project.id, query: { environment: 'DEVELOPMENT' } };
  const viewer = await project.member('VIEWER');
  const body = { content: 'PREVIEW', level: 'MENTIONS' } as const;
  await assertRefused(viewer.api.call('updateProjectPush', { ...of, body }), 403, 'SVC_PERMISSION_DENIED');
  const changed = await project.owner.api.call('updateProjectPush', { ...of, body });
  const token = 'a-token-that-nobody-else-may-know-of-0123456789';
  await project.api.call('putPushDevice', { body: { kind: 'FCM', token, userId: 'ann' } });
  const seen = await viewer.api.call('getProjectPush', of);
  assert.deepEqual(seen.settings, changed);
  assert.deepEqual([changed.content, changed.level, changed.fcm], ['PREVIEW', 'MENTIONS', null]);
  const none = { devices: 0, waiting: 0, retrying: 0 };
  assert.deepEqual(seen.services, [
    { kind: 'WEB_PUSH', ...none },
    { kind: 'FCM', ...none, devices: 1 },
    { kind: 'APNS', ...none },
  ]);
  assert.ok(!JSON.stringify(seen).includes(token.slice(0, 8)));
  const entries = await project.owner.api.call('listAuditLogs', {
    projectId: project.id,
    query: { action: 'push.updated' },
  });
  assert.deepEqual(
    entries.map(({ actorEmail }) => actorEmail),
    [project.owner.email],
  );
});

test('[PUSH-5] preferences are per user, partly set, and a time zone must exist', async () => {
  const alice = await chat.user('alice');
  const nothing = { userId: 'alice', level: null, quietHours: null };
  assert.deepEqual(await alice.api.call('getPushPreferences', {}), nothing);
  const quietHours = { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin' };
  await alice.api.call('setPushPreferences', { body: { level: 'MENTIONS' } });
  assert.deepEqual(await alice.api.call('setPushPreferences', { body: { quietHours } }), {
    userId: 'alice',
    level: 'MENTIONS',
    quietHours,
  });
  assert.deepEqual(await alice.api.call('setPushPreferences', { body: { level: null, quietHours: null } }), nothing);
  for (const bad of [
    { ...quietHours, timeZone: 'Middle/Earth' },
    { ...quietHours, from: '24:00' },
  ]) {
    const asked = alice.api.call('setPushPreferences', { body: { quietHours: bad } });
    await assertRefused(asked, 400, 'SVC_VALIDATION_FAILED');
  }
});

test('[PUSH-15] erasing a user removes devices and preferences', async () => {
  const gina = await chat.user('gina');
  await gina.api.call('putPushDevice', { body: fcm('of-gina') });
  await gina.api.call('setPushPreferences', { body: { level: 'OFF' } });
  const { api } = chat.project;
  await api.call('eraseUser', { userId: 'gina', body: { messages: 'delete' } });
  await eventually(async () => {
    assert.deepEqual(await api.call('listPushDevices', { query: { userId: 'gina' } }), []);
    assert.equal((await api.call('getPushPreferences', { query: { userId: 'gina' } })).level, null);
  });
});

test('[PUSH-5] quiet hours are by the wall clock of the zone, over midnight and over a change of the clock', () => {
  const night = { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin' };
  const at = (text: string, hours = night) => isQuiet(hours, Date.parse(text));
  assert.deepEqual(
    ['2026-01-10T20:59:59Z', '2026-01-10T21:00:00Z', '2026-01-11T05:59:59Z', '2026-01-11T06:00:00Z'].map((text) =>
      at(text),
    ),
    [false, true, true, false],
  );
  assert.deepEqual([at('2026-07-11T05:00:00Z'), at('2026-07-11T04:59:00Z')], [false, true], 'in summer');
  const noon = { from: '12:00', until: '13:30', timeZone: 'Asia/Kolkata' };
  assert.deepEqual([at('2026-01-10T06:29:00Z', noon), at('2026-01-10T06:30:00Z', noon)], [false, true]);
  assert.equal(at('2026-01-10T06:29:00Z', { ...noon, from: '00:00', until: '00:00' }), true);
});
