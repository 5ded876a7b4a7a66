import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { liveStreamEvents } from '@parley/contract';
import { type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { addWebhook } from '../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { eventIn, hasValidSignature, startReceiver, type TestReceiver } from '../../../testkit/peers/receiver.ts';

let service: RoomsService;
let receiver: TestReceiver;
before(async () => {
  service = await sharedRooms();
  receiver = await startReceiver();
});
after(async () => {
  await receiver.close();
});

interface Envelope {
  id: string;
  type: string;
  projectId: string;
  environment: string;
  createdAt: string;
  data: Record<string, unknown>;
}

const streamEvents = Object.keys(liveStreamEvents) as (keyof typeof liveStreamEvents)[];
const isTime = (value: unknown): boolean => typeof value === 'string' && new Date(value).toISOString() === value;

test('[LIVE-8] the seven stream events are delivered, each with exactly its fields', async () => {
  const project = await service.newProject();
  const { secret } = await addWebhook(project, { url: receiver.url, environment: 'DEVELOPMENT', events: streamEvents });
  const call = project.api.call;
  const stream = await call('createLiveStream', {
    body: { title: 'Launch', hostIdentity: 'ada', visibility: 'UNLISTED', metadata: { secret: 'no' } },
  });
  const streamId = stream.id;
  await call('registerHost', { streamId, body: { identity: 'ada' } });
  await call('registerHost', { streamId, body: { identity: 'bob' } });
  const started = await call('startLiveStream', { streamId });
  await call('createViewerToken', { streamId, body: { identity: 'eve' } });
  const left = await call('leaveLiveStream', { streamId, body: { identity: 'eve' } });
  const removed = await call('removeHost', { streamId, identity: 'bob' });
  const ended = await call('endLiveStream', { streamId });
  const cancelled = await call('createLiveStream', { body: { title: 'Never', hostIdentity: 'ada' } });
  const over = await call('endLiveStream', { streamId: cancelled.id });

  const expected = [
    [
      'live_stream.created',
      { streamId, title: 'Launch', visibility: 'UNLISTED', hostIdentity: 'ada', createdAt: stream.createdAt },
    ],
    ['live_stream.host_joined', { streamId, identity: 'ada', role: 'HOST', at: 'a time' }],
    ['live_stream.host_joined', { streamId, identity: 'bob', role: 'CO_HOST', at: 'a time' }],
    ['live_stream.started', { streamId, startedAt: started.startedAt }],
    ['live_stream.viewer_joined', { streamId, identity: 'eve', at: 'a time' }],
    ['live_stream.viewer_left', { streamId, identity: 'eve', at: left.at }],
    ['live_stream.host_left', { streamId, identity: 'bob', at: removed.removedAt }],
    ['live_stream.ended', { streamId, endedAt: ended.endedAt, durationMs: ended.durationMs }],
    [
      'live_stream.created',
      {
        streamId: cancelled.id,
        title: 'Never',
        visibility: 'PUBLIC',
        hostIdentity: 'ada',
        createdAt: cancelled.createdAt,
      },
    ],
    ['live_stream.ended', { streamId: cancelled.id, endedAt: over.endedAt, durationMs: null }],
  ] as const;
  await eventually(() => assert.ok(receiver.requests.length >= expected.length, `${receiver.requests.length} came`));
  for (const request of receiver.requests) assert.ok(hasValidSignature(request, secret, Date.now() / 1000));
  // Deliveries come in any order; `createdAt` and the id say which was first.
  const envelopes = receiver.requests.map((request) => eventIn(request) as Envelope);
  for (const envelope of envelopes) {
    assert.deepEqual(Object.keys(envelope).sort(), ['createdAt', 'data', 'environment', 'id', 'projectId', 'type']);
    assert.deepEqual([envelope.projectId, envelope.environment], [project.id, 'DEVELOPMENT']);
    assert.match(envelope.id, /^evt_/);
    assert.ok(isTime(envelope.createdAt));
    for (const name of ['at', 'createdAt', 'startedAt', 'endedAt'])
      if (name in envelope.data) assert.ok(isTime(envelope.data[name]), `${envelope.type} ${name}`);
  }
  assert.equal(new Set(envelopes.map(({ id }) => id)).size, expected.length);
  assert.deepEqual(sorted(envelopes.map(({ type, data }) => [type, data] as const)), sorted(expected));
  assert.ok(Number(ended.durationMs) >= 0);
  assert.deepEqual(new Set(envelopes.map(({ type }) => type)), new Set(streamEvents), 'all seven were seen');
  assert.equal(streamEvents.length, 7);
});

type Fact = readonly [string, Readonly<Record<string, unknown>>];

/** In one order, with the times that no answer shows left open. */
function sorted(facts: readonly Fact[]): Fact[] {
  const isOpen = (type: string): boolean => type.endsWith('_joined');
  const known = facts.map(([type, data]): Fact => [type, isOpen(type) ? { ...data, at: 'a time' } : data]);
  return known.sort((a, b) => (orderKey(a) < orderKey(b) ? -1 : 1));
}

/** No two facts of this story agree in all of these. */
const orderKey = ([type, { streamId, identity }]: Fact): string => `${type} ${streamId} ${identity}`;
