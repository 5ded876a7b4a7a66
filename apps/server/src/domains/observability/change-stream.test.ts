import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { ChangeKind, ChangeNotice } from '@parley/contract';
import { emit, streamEvents } from '../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { Person } from '../../../testkit/kit/people.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { createChangeStream } from './change-stream.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

/** The stream as a dashboard reads it; kinds gather while the test goes on. */
async function watch(person: Person, projectId: string, environment = 'DEVELOPMENT') {
  const leaving = new AbortController();
  const response = await service.fetch(`/v1/projects/${projectId}/changes?environment=${environment}`, {
    headers: { authorization: `Bearer ${person.accessToken}` },
    signal: leaving.signal,
  });
  const seen = { text: '', hasEnded: false };
  const read = async () => {
    for await (const chunk of response.body ?? []) seen.text += Buffer.from(chunk).toString();
    seen.hasEnded = true;
  };
  if (response.ok) void read().catch(() => {});
  const kinds = (): ChangeKind[] =>
    [...seen.text.matchAll(/^event: change\ndata: (.*)$/gm)].flatMap(
      ([, data = '']) => (JSON.parse(data) as ChangeNotice).kinds,
    );
  return { response, seen, kinds, leave: () => leaving.abort() };
}

const includes = (kinds: readonly ChangeKind[], ...wanted: ChangeKind[]): void => {
  for (const kind of wanted) assert.ok(kinds.includes(kind), `${kind} is not among ${kinds.join(', ') || 'nothing'}`);
};

test('[OBS-21] an open dashboard is told what kind of thing changed, in its environment, and nothing of it', async () => {
  const project = await service.newProject();
  const here = await watch(project.owner, project.id);
  const there = await watch(project.owner, project.id, 'PRODUCTION');
  assert.equal(here.response.headers.get('content-type'), 'text/event-stream');
  await project.api.call('createRoom', { body: { name: 'secret-name' } });
  await emit(service, project, streamEvents(1));
  await project.api.call('createConversation', { body: { name: 'secret-talk' } });
  await eventually(() => includes(here.kinds(), 'rooms', 'streams', 'chat'));
  // Keys are of both environments.
  await project.newKey('DEVELOPMENT');
  await eventually(() => includes(there.kinds(), 'keys', 'audit'));
  assert.ok(!there.kinds().some((kind) => ['rooms', 'streams', 'chat'].includes(kind)));
  assert.doesNotMatch(here.seen.text, /secret|room_|conv_|stream_/);
  here.leave();
  there.leave();
});

test('[OBS-22] the stream tells what the role may read, and ends when the person is no member any more', async () => {
  const project = await service.newProject();
  const viewer = await project.member('VIEWER');
  const stream = await watch(viewer, project.id);
  assert.equal((await watch(await service.newPerson(), project.id)).response.status, 404);
  await project.newKey('DEVELOPMENT');
  await project.api.call('createRoom', { body: { name: 'after-the-key' } });
  await eventually(() => includes(stream.kinds(), 'rooms'));
  assert.ok(!stream.kinds().includes('keys') && !stream.kinds().includes('audit'), stream.seen.text);
  await project.owner.api.call('removeProjectMember', { projectId: project.id, userId: viewer.userId });
  await eventually(() => assert.ok(stream.seen.hasEnded));
});

test('[OBS-22] a stream that fails while it begins stops watching, and ends nothing else', async () => {
  const left: string[] = [];
  const begun = Promise.withResolvers<void>();
  const open = createChangeStream({
    changes: {
      note: () => {},
      async watch(_scope, listener) {
        listener(['members']);
        await begun.promise;
        return () => left.push('watching');
      },
    },
    bus: { onGap: () => () => left.push('listening') } as never,
    clock: createFakeClock(),
    authenticateSession: async () => ({ userId: 'u' }) as never,
    roleIn: async () => {
      throw new Error('the database is gone');
    },
  });
  const stream = open({ userId: 'u', role: 'OWNER', environment: 'DEVELOPMENT' } as never, 'token');
  await new Promise(setImmediate);
  begun.resolve();
  assert.ok((await stream).content.destroyed);
  assert.deepEqual(left, ['listening', 'watching']);
});
