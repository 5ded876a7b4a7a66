import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { startReceiver } from '../../../testkit/peers/receiver.ts';
import { createActivity } from '../../core/activity.ts';

/** Counts are gathered, and written in turns. */
const gatheredMs = 30_000;

let service: TestService;
before(async () => {
  service = await sharedService();
});

test('[OBS-33] messages and deliveries are in the metrics of their minute and hour, in their environment alone', async (t) => {
  const { id: projectId, api, owner } = await service.newProject();
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  await owner.api.call('createWebhook', {
    projectId,
    body: { environment: 'DEVELOPMENT', url: receiver.url, events: ['message.created'] },
  });
  const { id: room } = await api.call('createConversation', { body: { name: 'talk' } });
  for (const text of ['one', 'two']) await api.call('sendMessage', { room, body: { senderId: 'ada', text } });
  await eventually(
    async () => {
      const { series } = await owner.api.call('getProjectMetrics', { projectId });
      for (const points of [series.minutes, series.hours]) {
        assert.equal(
          points.reduce((sum, { messages }) => sum + messages, 0),
          2,
        );
        assert.deepEqual(
          [
            points.reduce((sum, { deliveries }) => sum + deliveries.delivered, 0),
            points.reduce((sum, { deliveries }) => sum + deliveries.failed, 0),
          ],
          [2, 0],
        );
      }
    },
    { withinMs: gatheredMs },
  );
  const elsewhere = await owner.api.call('getProjectMetrics', { projectId, query: { environment: 'PRODUCTION' } });
  assert.ok(elsewhere.series.minutes.every(({ messages, deliveries }) => messages + deliveries.delivered === 0));
});

test('[OBS-33] what is counted is summed by minute until it is stored', async () => {
  const clock = createFakeClock();
  const activity = createActivity({ clock });
  const scope = { projectId: 'p', environment: 'DEVELOPMENT' } as const;
  for (let n = 0; n < 3; n++) activity.count('messages', scope);
  activity.count('delivered', scope);
  await clock.advance(60_000);
  activity.count('messages', scope);
  assert.deepEqual(
    activity.take().map(({ metric, value }) => [metric, value]),
    [
      ['messages', 3],
      ['delivered', 1],
      ['messages', 1],
    ],
  );
  assert.deepEqual(activity.take(), []);
});
