import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { emit, streamEvents } from '../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

interface Frame {
  id: string;
  event: string;
  data: { id: string; type: string; environment: string; projectId: string; data: Record<string, unknown> };
}

/** Reads a stream as a client would; frames gather while the test goes on. */
async function listen(apiKey: string, { types = '', lastEventId = '' } = {}) {
  const leaving = new AbortController();
  const response = await service.fetch(`/v1/events${types === '' ? '' : `?types=${types}`}`, {
    headers: { authorization: `Bearer ${apiKey}`, ...(lastEventId === '' ? {} : { 'last-event-id': lastEventId }) },
    signal: leaving.signal,
  });
  const frames: Frame[] = [];
  let text = '';
  let hasEnded = false;
  const read = async () => {
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        if (data !== '') frames.push({ id, event, data: JSON.parse(data) });
        text = text.slice(end + 2);
      }
    }
    hasEnded = true;
  };
  if (response.ok) void read().catch(() => {});
  return { response, frames, hasEnded: () => hasEnded, leave: () => leaving.abort() };
}

const streamsIn = (frames: readonly Frame[]) => frames.map(({ data }) => data.data['streamId']);

test('[WH-17] events of the key`s project and environment are streamed as they happen', async () => {
  const [project, other] = [await service.newProject(), await service.newProject()];
  await emit(service, project, streamEvents(1, 'earlier_'));
  const stream = await listen(project.apiKey);
  assert.equal(stream.response.status, 200);
  assert.equal(stream.response.headers.get('content-type'), 'text/event-stream');
  assert.ok(stream.response.headers.get('x-request-id'));
  await emit(service, project, streamEvents(3));
  await emit(service, project, streamEvents(1, 'production_'), 'PRODUCTION');
  await emit(service, other, streamEvents(1, 'foreign_'));
  await emit(service, project, streamEvents(1, 'last_'));
  await eventually(() => assert.equal(stream.frames.length, 4));
  assert.deepEqual(streamsIn(stream.frames).sort(), ['last_0', 'stream_0', 'stream_1', 'stream_2']);
  const [first] = stream.frames;
  assert.ok(first);
  assert.deepEqual([first.id, first.event], [first.data.id, first.data.type]);
  assert.deepEqual([first.data.projectId, first.data.environment], [project.id, 'DEVELOPMENT']);

  // Cut, and taken up again where it was.
  stream.leave();
  await emit(service, project, streamEvents(2, 'meanwhile_'));
  const resumed = await listen(project.apiKey, { lastEventId: stream.frames.at(-1)?.id ?? '' });
  await eventually(() =>
    assert.ok(streamsIn(resumed.frames).filter((id) => String(id).startsWith('meanwhile_')).length === 2),
  );
  assert.ok(!streamsIn(resumed.frames).includes('earlier_0'));
  resumed.leave();
});

test('[WH-17] a stream can be narrowed to types, and refuses what it does not know', async () => {
  const project = await service.newProject();
  const stream = await listen(project.apiKey, { types: 'live_stream.host_left' });
  await emit(service, project, streamEvents(2));
  await emit(service, project, [
    { type: 'live_stream.host_left', data: { streamId: 's', identity: 'a', at: '2026-01-01T00:00:00.000Z' } },
  ]);
  await eventually(() => assert.equal(stream.frames.length, 1));
  assert.equal(stream.frames[0]?.event, 'live_stream.host_left');
  stream.leave();
  assert.equal((await listen(project.apiKey, { types: 'nonsense' })).response.status, 400);
  assert.equal((await listen(project.apiKey, { lastEventId: 'evt_000000000000000000000000' })).response.status, 400);
  assert.equal((await listen('svk_dev_x.y')).response.status, 401);
  const { status } = await service.fetch('/v1/events', {
    method: 'HEAD',
    headers: { authorization: `Bearer ${project.apiKey}` },
  });
  assert.equal(status, 200);
});

test('[WH-17] the stream ends when its key is revoked', async () => {
  const project = await service.newProject();
  const stream = await listen(project.apiKey);
  const publicId = /_([A-Za-z0-9]{16})\./.exec(project.apiKey)?.[1] ?? '';
  await project.owner.api.call('revokeApiKey', { projectId: project.id, publicId });
  await eventually(() => assert.ok(stream.hasEnded()));
});

test('[WH-17] a project has at most twenty streams on a process, and gets a place back when one leaves', async () => {
  const project = await service.newProject();
  const open = await Promise.all(Array.from({ length: 20 }, () => listen(project.apiKey)));
  assert.ok(open.every(({ response }) => response.status === 200));
  assert.equal((await listen(project.apiKey)).response.status, 429);
  for (const stream of open) stream.leave();
  await eventually(async () => {
    const again = await listen(project.apiKey);
    again.leave();
    assert.equal(again.response.status, 200);
  });
});
