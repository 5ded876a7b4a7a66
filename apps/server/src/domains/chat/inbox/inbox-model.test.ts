import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InboxEntry } from '@parley/contract';
import fc from 'fast-check';
import { type InboxStep, inboxStep, PEOPLE, ROOMS } from '../../../../testkit/chat/inbox-model.ts';
import {
  compare,
  createInboxStage,
  type InboxStage,
  perform,
  send,
  take,
} from '../../../../testkit/chat/inbox-stage.ts';
import { isWhole } from '../../../../testkit/kit/part.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';

/** Random steps against a model. On PostgreSQL more of them; `PARLEY_MODEL_RUNS` makes it longer, `PARLEY_MODEL_SEED` another. */
const RUNS = Number(process.env['PARLEY_MODEL_RUNS'] ?? (isWhole ? 6 : 2));
const SEED = Number(process.env['PARLEY_MODEL_SEED'] ?? 11);

let service: TestService;
before(async () => {
  service = await startService({ env: { RATE_LIMIT_WINDOW_SECONDS: '1' } });
});
after(() => service.stop());

test('[INB-5] [INB-6] [INB-7] [INB-8] whatever is sent, read, marked, deleted, retired, blocked, hidden or left, inboxes and badges are what a model counts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(inboxStep, { minLength: 10, maxLength: 40 }), async (steps) => {
      const stage = await createInboxStage(service);
      for (const [at, step] of steps.entries()) {
        await take(stage, step);
        if (at % 4 === 3) await compare(stage);
      }
      await compare(stage);
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});

test('[INB-9] the same while entries go dormant and wake', async () => {
  let settled = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(inboxStep, { minLength: 10, maxLength: 40 }), async (steps) => {
      const stage = await createInboxStage(service);
      for (const [at, step] of steps.entries()) {
        await take(stage, step);
        if (at % 3 === 2) settled += await stage.settle();
        if (at % 4 === 3) await compare(stage);
      }
      await compare(stage);
    }),
    { numRuns: RUNS, seed: SEED + 1, endOnFailure: true },
  );
  assert.ok(settled > 0, 'nothing went dormant');
});

/** What the messages themselves say is unread after a mark. */
async function recount(
  { server }: InboxStage,
  { conversation, lastReadSeq }: InboxEntry,
  blocked: ReadonlySet<string>,
): Promise<number> {
  const { messages } = await server.call('listMessages', { room: conversation.id, query: { limit: 100 } });
  return messages.filter(({ seq, senderId }) => seq > (lastReadSeq ?? 0) && !blocked.has(senderId ?? '')).length;
}

test('[INB-6] [INB-7] [INB-9] all at once, what is unread is what a count of the messages after the mark gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(inboxStep, { minLength: 20, maxLength: 60 }), async (steps) => {
      const stage = await createInboxStage(service);
      for (const by of PEOPLE)
        for (let room = 0; room < ROOMS; room++) await send(stage, { does: 'send', room, by, mentions: null });
      const quiet = new Set(['join', 'leave', 'retire', 'send']);
      // Those that were there when all began.
      const aims = steps.flatMap((step) => ('at' in step ? { ...step, at: step.at % PEOPLE.length } : step));
      await Promise.all([
        ...aims.map(async (step) => {
          const outcome = quiet.has(step.does) ? sendPlainly(stage, step) : perform(stage, step);
          // One may delete what another is about to mark, or lift what another blocks again.
          const expected = step.does === 'block' ? [503] : [404, 409];
          await outcome.catch((error) => assert.ok(expected.includes(error.status), `${step.does}: ${error}`));
        }),
        ...aims.filter((_, at) => at % 8 === 0).map(() => stage.settle()),
      ]);
      for (const user of stage.users.values()) {
        const blocked = new Set((await user.call('listBlocks', {})).map(({ blockedId }) => blockedId));
        const entries = [
          ...(await user.call('listInbox', {})),
          ...(await user.call('listInbox', { query: { hidden: true } })),
        ];
        assert.equal(entries.length, ROOMS);
        for (const entry of entries) assert.equal(entry.unreadCount, await recount(stage, entry, blocked));
        const counted = entries.filter(({ muted, hidden }) => !muted && !hidden);
        const { unreadMessages, unreadMentions } = await user.call('getInboxBadge', {});
        const sumOf = (of: (entry: InboxEntry) => number) => counted.reduce((sum, entry) => sum + of(entry), 0);
        assert.equal(
          unreadMessages,
          sumOf(({ unreadCount }) => unreadCount),
        );
        assert.equal(
          unreadMentions,
          sumOf((entry) => entry.unreadMentions),
        );
      }
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});

const sendPlainly = ({ server, model }: InboxStage, { room, by }: InboxStep): Promise<unknown> =>
  server.call('sendMessage', { room: model.rooms[room]?.id ?? '', body: { text: 'x', senderId: by } });
