import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allEvents } from '@parley/contract';
import { methodRows } from '@parley/server';

/** The right column of every table. */
const ours = readFileSync('docs/guides/migration.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
  .map((line) => line.split(' | ')[1] ?? '');
const named = (pattern: RegExp): string[] => [...ours.join('\n').matchAll(pattern)].map(([, name = '']) => name);

/** Where each object of the page is declared. */
const declared: Readonly<Record<string, string>> = {
  room: 'room.ts',
  self: 'media/local-participant.ts',
  participant: 'media/remote-participant.ts',
  devices: 'devices/devices.ts',
  chat: 'chat/chat.ts',
  conversation: 'chat/conversation-types.ts',
  store: 'chat-store/types.ts',
};

test('[DOCS-8] every call and event that the migration guide names exists', () => {
  const calls = named(/`svc\.([\w.]+)/g);
  assert.ok(calls.length > 30, `${calls.length}`);
  for (const call of calls) assert.ok(Object.hasOwn(methodRows, call), `svc.${call}`);

  for (const [object, file] of Object.entries(declared)) {
    const source = readFileSync(`packages/client/src/${file}`, 'utf8');
    const members = named(new RegExp(`\\b(?<!svc\\.(?:\\w+\\.)*)${object}\\.(?!md\\b)(\\w+)`, 'g'));
    assert.ok(members.length > 0, object);
    for (const member of members.filter((name) => name !== 'on'))
      assert.ok(new RegExp(`\\b${member}\\b[(:?]`).test(source), `${object}.${member}`);
  }

  const kit = readFileSync('packages/react/src/index.ts', 'utf8');
  const parts = [...named(/`<([A-Z]\w+)/g), ...named(/`(use[A-Z]\w+)\(/g)];
  assert.ok(parts.length >= 15, `${parts.length}`);
  for (const part of parts) assert.ok(new RegExp(`\\b${part}\\b`).test(kit), part);

  const sources = ['room-types.ts', 'chat/conversation-types.ts', 'chat/chat.ts'];
  const types = sources.map((file) => readFileSync(`packages/client/src/${file}`, 'utf8')).join('\n');
  const events = [...named(/\.on\('(\w+)'/g), ...named(/`([a-z]+[A-Z]\w*(?:ed|eft))`/g)];
  assert.ok(events.length > 15, `${events.length}`);
  for (const event of events)
    if (!['reconnecting', 'connected', 'disconnected'].includes(event))
      assert.ok(types.includes(` ${event}: [`), event);

  const webhooks = named(/`([a-z_]+\.[a-z_]+)`/g).filter((type) => !Object.hasOwn(declared, type.split('.')[0] ?? ''));
  assert.ok(webhooks.length >= 5, `${webhooks.length}`);
  for (const type of webhooks) assert.ok(Object.hasOwn(allEvents, type), type);
});
