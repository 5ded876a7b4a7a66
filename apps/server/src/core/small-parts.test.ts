import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idPrefixes, isServiceError } from '@parley/contract';
import fc from 'fast-check';
import { addressKey, maskedAddress, maskedNetwork } from './addresses.ts';
import { createCache } from './cache.ts';
import { createCursors, cutPage } from './cursors.ts';
import { base32, createIds, randomBase62 } from './ids.ts';
import { createKeyring } from './keyring.ts';
import { isOriginAllowed, serializedOrigin } from './origins.ts';
import { empty, join, sql } from './sql.ts';

let now = 1_700_000_000_000;
const clock = { now: () => now, elapsed: () => now, sleep: async () => {} };
const keyring = createKeyring('another-root-secret-that-is-long-enough');

test('[SQL-1] values never become part of the text, fragments do', () => {
  const filter = sql`and name = ${"x'; drop table users"}`;
  const statement = sql`select * from t where id = ${1} ${filter} ${empty} limit ${5}`;
  assert.equal(statement.text, 'select * from t where id = $1 and name = $2  limit $3');
  assert.deepEqual(statement.values, [1, "x'; drop table users", 5]);
  const list = join([sql`a = ${1}`, sql`b = ${2}`], ' or ');
  assert.deepEqual([sql`where ${list}`.text, list.values], ['where a = $1 or b = $2', [1, 2]]);
});

test('[ID-1] public ids have their prefix and 24 characters that sort by time', () => {
  const ids = createIds(clock);
  const made = Array.from({ length: 50 }, () => {
    now += 1;
    return ids.newId('room');
  });
  assert.deepEqual(made, made.toSorted());
  assert.ok(made.every((id) => /^room_[0-9a-hjkmnp-tv-z]{24}$/.test(id)));
  assert.equal(new Set(Object.values(idPrefixes)).size, Object.keys(idPrefixes).length);
  assert.match(ids.newUuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.match(randomBase62(43), /^[0-9A-Za-z]{43}$/);
});

test('[ID-1] base32 keeps the order of bytes', () => {
  const bytes = fc.uint8Array({ minLength: 15, maxLength: 15 });
  fc.assert(
    fc.property(bytes, bytes, (left, right) => {
      assert.equal(
        Math.sign(Buffer.compare(left, right)),
        Math.sign(base32(left) < base32(right) ? -1 : base32(left) > base32(right) ? 1 : 0),
      );
    }),
  );
});

test('[PRJ-5] a cursor is readable only in its own list, unaltered', () => {
  const cursors = createCursors(keyring);
  const cursor = cursors.write('keys/p1', ['2026-01-01', 'x']);
  assert.deepEqual(cursors.read('keys/p1', cursor), ['2026-01-01', 'x']);
  const altered = [cursor.slice(0, -1), `${cursor}A`, `A${cursor.slice(1)}`, '', 'AAAA', '%%%', cursor.toUpperCase()];
  for (const bad of altered)
    assert.throws(
      () => cursors.read('keys/p1', bad),
      (error) => isServiceError(error, 'SVC_INVALID_CURSOR'),
      bad,
    );
  assert.throws(
    () => cursors.read('keys/p2', cursor),
    (error) => isServiceError(error, 'SVC_INVALID_CURSOR'),
  );
  assert.deepEqual(cutPage([1, 2, 3], 2, String), { items: [1, 2], nextCursor: '2' });
  assert.deepEqual(cutPage([1, 2], 2, String), { items: [1, 2], nextCursor: null });
});

test('[SEC-1] what is sealed cannot be read or altered without the key', () => {
  const sealed = keyring.seal('svk_dev_secret');
  assert.equal(keyring.unseal(sealed), 'svk_dev_secret');
  assert.notEqual(keyring.seal('svk_dev_secret'), sealed);
  assert.throws(() => keyring.unseal(`${sealed.slice(0, -4)}AAAA`));
  assert.throws(() => createKeyring('a-different-root-secret-of-good-length').unseal(sealed));
});

test('[REQ-8] origins are compared as browsers write them, exactly', () => {
  const policy = {
    allowedOrigins: ['https://app.example.com', 'http://xn--bcher-kva.example:8080'],
    allowLocalhostOrigins: true,
  };
  const allowed = [
    'https://app.example.com',
    'http://localhost:3000',
    'https://localhost',
    'http://127.0.0.1:1',
    'http://[::1]:5173',
    'http://xn--bcher-kva.example:8080',
  ];
  for (const origin of allowed) assert.equal(isOriginAllowed(policy, origin), true, origin);
  const refused = [
    'null',
    '',
    'https://app.example.com.evil.test',
    'https://evil.test/?https://app.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'http://localhost.evil.com',
    'http://127.0.0.1.nip.io',
    'http://localhost:80@evil',
    'http://[::1].evil',
    'file://',
    'https://sub.app.example.com',
    'http://127.0.0.2',
  ];
  for (const origin of refused) assert.equal(isOriginAllowed(policy, origin), false, origin);
  assert.equal(isOriginAllowed({ ...policy, allowLocalhostOrigins: false }, 'http://localhost:3000'), false);
  assert.equal(isOriginAllowed({ allowedOrigins: [], allowLocalhostOrigins: false }, 'https://anywhere.test'), true);
  assert.equal(serializedOrigin('HTTPS://App.Example.com:443/'), 'https://app.example.com');
});

test('[CACHE-1] a value is loaded once for all who ask, kept for its time, and a drop while loading is not undone', async () => {
  const cache = createCache<number>({ clock, ttlMs: 1_000, sizeMax: 2 });
  let loads = 0;
  const load = async () => ++loads;
  assert.deepEqual(await Promise.all([cache.get('a', load), cache.get('a', load)]), [1, 1]);
  assert.equal(await cache.get('a', load), 1);
  now += 1_001;
  assert.equal(await cache.get('a', load), 2);
  const { promise, resolve } = Promise.withResolvers<number>();
  now += 1_001;
  const slow = cache.get('a', () => promise);
  cache.drop('a');
  resolve(99);
  assert.equal(await slow, 99);
  assert.equal(await cache.get('a', load), 3);
  await assert.rejects(cache.get('b', () => Promise.reject(new Error('down'))));
  assert.equal(await cache.get('b', load), 4);
});

test('[OBS-7] an address is shown as its network, and counted by what one subscriber holds', () => {
  const table = [
    // address, masked, with its prefix, counted as
    ['203.0.113.9', '203.0.113.0', '203.0.113.0/24', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.0', '203.0.113.0/24', '203.0.113.9'],
    ['::FFFF:cb00:7109', '203.0.113.0', '203.0.113.0/24', '203.0.113.9'],
    ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.0', '203.0.113.0/24', '203.0.113.9'],
    ['0000:0000:0000:0000:0000:ffff:cb00:7109', '203.0.113.0', '203.0.113.0/24', '203.0.113.9'],
    ['2001:0db8:0001:0002::3', '2001:db8:1::', '2001:db8:1::/48', '2001:db8:1:2'],
    ['1::ffff:cb00:7109', '1:0:0::', '1:0:0::/48', '1:0:0:0'],
    ['2001:db8:1:2::3', '2001:db8:1::', '2001:db8:1::/48', '2001:db8:1:2'],
    ['2001:DB8::3', '2001:db8:0::', '2001:db8:0::/48', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0::', 'fe80:0:0::/48', 'fe80:0:0:0'],
    ['::1', '0:0:0::', '0:0:0::/48', '0:0:0:0'],
    ['unknown', null, null, 'unknown'],
  ] as const;
  for (const [ip, ...expected] of table)
    assert.deepEqual([maskedAddress(ip), maskedNetwork(ip), addressKey(ip)], expected, ip);
});
