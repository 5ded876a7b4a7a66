import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Limits } from '@parley/contract';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import type { Db } from '../../../core/db.ts';
import { createLog } from '../../../core/log.ts';
import type { Bus } from '../../../core/ports.ts';
import type { ChatConnection } from '../live/subscriptions.ts';
import { createEnvironmentInboxes } from './environment-inboxes.ts';
import type { Interest } from './interest.ts';
import { createLiveInboxes } from './live-inboxes.ts';

const scope = { projectId: 'p', environment: 'DEVELOPMENT' } as const;
const [clock, log, limits] = [createFakeClock(), createLog('silent'), { CHAT_RETENTION_DAYS: 0 } as Limits];

test('[INB-13] however many type at once, the store is looked at once for those who wait', async () => {
  let looks = 0;
  let [arrive, arrived] = [(): void => {}, Promise.resolve()];
  arrived = new Promise((resolve) => {
    arrive = resolve;
  });
  const members = { conversationId: 'c', lastChange: 0, memberCount: 60, userIds: ['me'] };
  const query = async () => {
    looks++;
    return [members];
  };
  const inboxes = createEnvironmentInboxes({ db: { query } as unknown as Db, clock, log, limits }, scope);
  let frames = 0;
  const receive = () => void (++frames === 50 && arrive());
  inboxes.add({ id: 'one', userId: 'me', follows: () => true, receive });
  const note = { conversationId: 'c', typing: true, expiresAt: null };
  for (let at = 0; at < 50; at++) inboxes.take({ typing: { ...note, userId: `u${at}` } });
  await arrived;
  assert.deepEqual([frames, looks], [50, 1]);
});

test('[INB-11] a socket whose catch-up failed follows nothing, and nothing is held for it', async () => {
  const ended: string[] = [];
  const interest = { begin: async () => {}, end: (key: string) => void ended.push(key) } as unknown as Interest;
  const bus = { subscribe: async () => () => {} } as unknown as Bus;
  const db = { query: () => Promise.reject(new Error('away')) } as unknown as Db;
  const missedChanges = { arePossible: async () => true } as never;
  const live = createLiveInboxes({ db, bus, clock, log, limits, missedChanges, interest });
  const caller = { ...scope, kind: 'chatToken', userId: 'me', scopes: ['chat:read'], conversations: null };
  const connection = { id: 'one', isOpen: true, session: { caller } } as unknown as ChatConnection;
  await assert.rejects(live.subscribe(connection, { since: 1 }), /away/);
  assert.deepEqual(ended, ['p/DEVELOPMENT']);
});
