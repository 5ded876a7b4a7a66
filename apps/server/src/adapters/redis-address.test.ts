import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idOf, parseRedisUrl } from './redis-address.ts';

test('[RUN-46] REDIS_URL is one Redis, several, sentinels or a cluster', () => {
  const one = 'rediss://user:p%2Cw@redis.example:6380/2';
  assert.deepEqual(parseRedisUrl(one), { kind: 'servers', servers: [{ id: 'redis.example:6380', url: one }] });
  assert.deepEqual(parseRedisUrl('redis://a:1, redis://b:1'), {
    kind: 'servers',
    servers: [
      { id: 'a:1', url: 'redis://a:1' },
      { id: 'b:1', url: 'redis://b:1' },
    ],
  });
  assert.deepEqual(parseRedisUrl('redis+cluster://:p%40w@a:7000,redis+cluster://b'), {
    kind: 'cluster',
    nodes: [
      { host: 'a', port: 7000 },
      { host: 'b', port: 6379 },
    ],
    login: { password: 'p@w', isTls: false },
  });
  assert.deepEqual(parseRedisUrl('rediss+sentinel://u:p@s1/main,rediss+sentinel://u:p@s2:26380/main'), {
    kind: 'sentinel',
    nodes: [
      { host: 's1', port: 26379 },
      { host: 's2', port: 26380 },
    ],
    login: { username: 'u', password: 'p', isTls: true },
    master: 'main',
  });
});

test('[STA-13] a server is the same however its address is spelled: default port, capitals, IPv6', () => {
  const ids = (text: string): string[] => {
    const address = parseRedisUrl(text);
    return address.kind === 'servers' ? address.servers.map(({ id }) => id) : address.nodes.map(idOf);
  };
  assert.deepEqual(ids('redis://a,redis://:secret@B'), ['a:6379', 'b:6379']);
  assert.deepEqual(ids('redis://a:6379,redis://b:6379'), ['a:6379', 'b:6379']);
  assert.deepEqual(ids('rediss://[::1],rediss://[FE80::2]:7000'), ['[::1]:6379', '[fe80::2]:7000']);
  const address = parseRedisUrl('rediss+cluster://[::1]:7000,rediss+cluster://[::2]');
  assert.deepEqual(address.kind === 'cluster' && address.nodes, [
    { host: '::1', port: 7000 },
    { host: '::2', port: 6379 },
  ]);
});

test('[RUN-46] what REDIS_URL cannot mean is said in a sentence, without the password', () => {
  for (const [text, reason] of [
    ['localhost:6379', /must start with redis:/],
    ['a', /must start with redis:/],
    ['redis://a,', /must start with redis:/],
    ['redis://:secret@a,redis+cluster://b', /of one kind/],
    ['redis://:secret@a:1,redis://a:1', /names a server twice/],
    ['redis://a,redis://:secret@a:6379', /names a server twice/],
    ['redis+sentinel://a/main,redis+sentinel://:secret@A:26379/main', /names a server twice/],
    ['redis+cluster://:secret@a/1', /has no database/],
    ['redis+sentinel://:secret@a', /must end with the name of the master/],
    ['redis+sentinel://a/main,redis+sentinel://b/other', /the same for all/],
  ] as const) {
    assert.throws(
      () => parseRedisUrl(text),
      (error: Error) => reason.test(error.message) && !error.message.includes('secret'),
      text,
    );
  }
});
