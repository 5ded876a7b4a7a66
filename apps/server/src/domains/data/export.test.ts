import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { before, test } from 'node:test';
import type { DataJob } from '@parley/contract';
import { createChatKit } from '../../../testkit/chat/chat.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { sql } from '../../core/sql.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

/** A process goes on with what another one left within a minute (DATA-2). */
const done = ({ api }: TestProject, { id }: Pick<DataJob, 'id'>): Promise<DataJob> =>
  eventually(
    async () => {
      const job = await api.call('getDataJob', { jobId: id });
      if (job.state !== 'DONE') assert.fail(`${JSON.stringify(job)} ${await claimOf(id)}`);
      return job;
    },
    { withinMs: 75_000 },
  );

async function claimOf(id: string): Promise<string> {
  const rows = await service.adapters.db.query(sql`
    select attempts, due_at, claimed_until, now() from data_jobs where id = ${id}`);
  return JSON.stringify(rows);
}

async function linesOf({ url }: DataJob): Promise<Record<string, unknown>[]> {
  const answer = await fetch(url ?? '');
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename="?job_/);
  return (await answer.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('[DATA-4] [POLL-10] [DASH-99] an export holds what is stored of a user and nothing of others, with links to the files', async () => {
  const chat = await createChatKit(service);
  const { project } = chat;
  const { api } = project;
  const { id: room } = await chat.conversation(['ann', 'bob']);
  const ann = await chat.user('ann');
  const body = { filename: 'a.txt', mimeType: 'text/plain', size: 5 };
  const { attachment, uploadUrl } = await ann.api.call('requestAttachment', { room, body });
  await fetch(uploadUrl, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'hello' });
  await ann.api.call('completeAttachment', { attachmentId: attachment.id });
  const sent = await ann.api.call('sendMessage', { room, body: { text: 'mine', attachmentId: attachment.id } });
  const others = await api.call('sendMessage', { room, body: { text: 'not mine', senderId: 'bob' } });
  await ann.api.call('addReaction', { messageId: others.id, body: { emoji: '👍' } });
  await api.call('addReaction', { messageId: sent.id, body: { emoji: '👍', userId: 'bob' } });
  const poll = { question: 'q', options: ['a', 'b'], anonymous: true };
  const { id: messageId } = await api.call('sendMessage', { room, body: { poll, senderId: 'bob' } });
  for (const [userId, option] of [['ann', 2] as const, ['bob', 1] as const])
    await api.call('castVote', { messageId, body: { optionIds: [option], userId } });
  await ann.api.call('setDraft', { room, body: { text: 'not yet' } });
  await api.call('setDraft', { room, query: { userId: 'bob' }, body: { text: 'not mine either' } });
  const rtc = await api.call('createRoom', { body: { name: 'r' } });
  await api.call('mintRtcToken', { roomId: rtc.id, body: { participantIdentity: 'ann' } });

  const asked = await api.call('exportUser', { userId: 'ann' });
  assert.deepEqual([asked.kind, asked.userId, asked.url], ['EXPORT', 'ann', null]);
  const job = await done(project, asked);
  const lines = await linesOf(job);
  assert.deepEqual(
    lines.map(({ kind }) => kind),
    ['export', 'rtc_token', 'membership', 'message', 'reaction', 'vote', 'attachment', 'draft'],
  );
  const of = (kind: string) => lines.find((line) => line['kind'] === kind) ?? assert.fail(kind);
  assert.deepEqual([of('message')['id'], of('message')['text']], [sent.id, 'mine']);
  assert.equal(of('membership')['lastReadMessageId'], sent.id);
  assert.equal(await (await fetch(String(of('attachment')['url']))).text(), 'hello');
  assert.deepEqual([of('vote')['messageId'], of('vote')['optionIds']], [messageId, [2]]);
  assert.equal(of('draft')['text'], 'not yet');
  assert.deepEqual(of('message')['reactions'], [{ emoji: '👍', count: 1 }], 'who reacted is not theirs');
  assert.ok(!JSON.stringify(lines).includes('not mine'));
  assert.equal(job.progress, lines.length - 1);

  const url = new URL(job.url ?? '');
  url.searchParams.set('exp', String(Number(url.searchParams.get('exp')) + 1));
  assert.equal((await fetch(url)).status, 403);
  const foreign = await service.newProject();
  await assert.rejects(foreign.api.call('getDataJob', { jobId: job.id }), failure('SVC_DATA_JOB_NOT_FOUND'));
  assert.deepEqual(
    (await api.call('listDataJobs', { query: { kind: 'EXPORT' } })).map(({ id }) => id),
    [job.id],
  );
  assert.deepEqual(await api.call('listDataJobs', { query: { kind: 'IMPORT' } }), []);

  const viewer = await project.member('VIEWER');
  const seen = (query: object) => viewer.api.call('listProjectDataJobs', { projectId: project.id, query });
  const { url: _, ...rest } = job;
  assert.deepEqual(await seen({}), [rest], 'the dashboard has no way to the file');
  assert.deepEqual(await seen({ environment: 'PRODUCTION' }), []);
});

test('[DATA-5] an export that a killed process left is made anew, once; its file goes when its time is over', async () => {
  const project = await service.newProject();
  const { db, blobs } = service.adapters;
  const stale = 'data/stale/1';
  await blobs.write(stale, Readable.from([Buffer.from('half')]), 4);
  const id = `job_${project.id.replaceAll('-', '').slice(0, 24)}`;
  await db.execute(sql`
    insert into data_jobs (id, project_id, environment, kind, state, user_id, attempts, blob_key, due_at, claimed_until,
                           created_at)
    values (${id}, ${project.id}, 'DEVELOPMENT', 'EXPORT', 'RUNNING', 'ann', 1, ${stale}, now(),
            now() + interval '1 hour', now())`);
  const again = await project.api.call('exportUser', { userId: 'ann' });
  assert.equal(again.id, id, 'a second request is the first');
  await db.execute(sql`update data_jobs set claimed_until = now() - interval '1 second' where id = ${id}`);
  const job = await done(project, again);
  assert.equal(await blobs.stat(stale), null);
  assert.equal((await linesOf(job)).length, 1);

  const [row] = await db.query<{ key: string }>(sql`select blob_key as key from data_jobs where id = ${id}`);
  await db.execute(sql`update data_jobs set expires_at = now() - interval '1 second' where id = ${id}`);
  assert.equal((await project.api.call('getDataJob', { jobId: id })).url, null);
  assert.equal((await fetch(job.url ?? '')).status, 404);
  await service.service.data.sweep();
  assert.equal(await blobs.stat(row?.key ?? ''), null);
});
