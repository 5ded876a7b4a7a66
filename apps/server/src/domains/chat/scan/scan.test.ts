import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, type ChatUser, createChatKit } from '../../../../testkit/chat/chat.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { eventIn, hasValidSignature, startReceiver, type TestReceiver } from '../../../../testkit/peers/receiver.ts';
import { sql } from '../../../core/sql.ts';
import { createScans } from './scan.ts';

const clock = createFakeClock();
let service: TestService;
let chat: ChatOf;
let receiver: TestReceiver;
let room: string;
let ann: ChatUser;
let bob: ChatUser;
before(async () => {
  service = await startService({ clock });
  receiver = await startReceiver();
  chat = await createChatKit(service);
  room = (await chat.conversation(['ann', 'bob'])).id;
  [ann, bob] = [await chat.user('ann'), await chat.user('bob')];
});
after(async () => {
  await service.stop();
  await receiver.close();
});

const answering = (body: object) => ({ status: 200, body: JSON.stringify(body) });
const here = (url: string): string => url.replace(/^https?:\/\/[^/]+/, service.url);
const scan = () => service.service.chat.sweep.scans();
const link = (attachmentId: string, by = bob) => by.api.call('getAttachmentDownload', { attachmentId });

async function upload(): Promise<string> {
  const body = { filename: 'a.txt', mimeType: 'text/plain', size: 5 };
  const { attachment, uploadUrl } = await ann.api.call('requestAttachment', { room, body });
  await fetch(here(uploadUrl), { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'hello' });
  return (await ann.api.call('completeAttachment', { attachmentId: attachment.id })).id;
}

const eventsOf = (id: string) =>
  service.adapters.db.query<{ data: string }>(sql`
    select data from events where type = 'attachment.scanned' and strpos(data, ${id}) > 0 order by created_at, id`);

test('[SCAN-1] until the scanner has answered a file is fetched by nobody but it; then by all, or by nobody', async () => {
  const { api } = chat.project;
  const unscanned = await upload();
  const { secret } = await api.call('setScanHook', { body: { url: receiver.url } });
  receiver.answer = answering({ result: 'PENDING' });
  const id = await upload();
  const sent = await ann.api.call('sendMessage', { room, body: { attachmentIds: [id, unscanned] } });
  assert.deepEqual(
    sent.attachments?.map((file) => file.scan),
    ['PENDING', null],
  );
  await scan();
  const [request = assert.fail()] = receiver.requests;
  assert.ok(hasValidSignature(request, secret ?? '', Math.floor(clock.now() / 1000)));
  const { type, data } = eventIn(request);
  assert.deepEqual([type, data['attachmentId'], data['uploaderId'], data['size']], ['attachment.scan', id, 'ann', 5]);
  const scannersUrl = here(String(data['url']));
  assert.equal(await (await fetch(scannersUrl)).text(), 'hello');
  for (const who of [bob, ann]) await assertRefused(link(id, who), 409, 'SVC_ATTACHMENT_NOT_SCANNED');
  await assertRefused(api.call('getAttachmentDownload', { attachmentId: id }), 409, 'SVC_ATTACHMENT_NOT_SCANNED');
  await link(unscanned);

  const result = (result: 'CLEAN' | 'REJECTED', reason?: string) =>
    api.call('setScanResult', { attachmentId: id, body: { result, ...(reason ? { reason } : {}) } });
  assert.equal((await result('CLEAN')).scan, 'CLEAN');
  await result('CLEAN');
  const { url } = await link(id);
  assert.equal(await (await fetch(here(url))).text(), 'hello');
  // Found later: a link that was given out leads to nothing, but for the scanner.
  clock.jump(1);
  await result('REJECTED', 'EICAR');
  assert.equal((await fetch(here(url))).status, 409);
  assert.equal((await fetch(scannersUrl)).status, 200);
  await assertRefused(link(id), 409, 'SVC_ATTACHMENT_REJECTED');
  const message = await bob.api.call('getMessage', { messageId: sent.id });
  assert.deepEqual(
    message.attachments?.map((file) => file.scan),
    ['REJECTED', null],
  );
  const events = (await eventsOf(id)).map((row) => JSON.parse(row.data));
  assert.deepEqual(
    events.map((one) => [one.result, one.reason, one.messageId]),
    [
      ['CLEAN', null, sent.id],
      ['REJECTED', 'EICAR', sent.id],
    ],
  );
  const { changes } = await bob.api.call('listChanges', { room, query: {} });
  assert.equal(changes.filter((one) => one.type === 'message.updated').length, 2);
  assert.deepEqual(
    changes.map(({ change }) => change),
    changes.map((_, at) => (changes[0]?.change ?? 0) + at),
  );
  await clock.advance(900_000);
  assert.equal((await fetch(scannersUrl)).status, 403);
});

test('[SCAN-2] an answer at once decides; a rejected file is in no message', async () => {
  receiver.answer = answering({ result: 'CLEAN' });
  const clean = await upload();
  await scan();
  await ann.api.call('sendMessage', { room, body: { attachmentId: clean } });
  await link(clean);
  receiver.answer = answering({ result: 'REJECTED', reason: 'bad' });
  const bad = await upload();
  await scan();
  await assertRefused(link(bad, ann), 409, 'SVC_ATTACHMENT_REJECTED');
  await assertRefused(
    ann.api.call('sendMessage', { room, body: { attachmentId: bad } }),
    409,
    'SVC_ATTACHMENT_REJECTED',
  );
});

test('[SCAN-3] a process that does not know of the hook yet lets no file go', async () => {
  receiver.answer = answering({ result: 'PENDING' });
  const id = await upload();
  await scan();
  const hook = await chat.project.api.call('getScanHook');
  await service.adapters.db.execute(sql`update attachments set scan_due_at = now(), scan_tries = 0 where id = ${id}`);
  const asked: string[] = [];
  const late = createScans({
    db: service.adapters.db,
    clock: { ...clock, now: () => Date.now() + 1_000 },
    ids: { newId: () => 'evt_1' },
    environments: { get: async () => ({ scan: null }) },
    callouts: { ask: async ({ url }: { url: string }) => asked.push(url) && null },
    attachments: { linkTo: async () => 'https://example.com/' },
    unitOfWork: () => assert.fail('it was released'),
  } as unknown as Parameters<typeof createScans>[0]);
  await late.run();
  assert.deepEqual(asked, [hook.url]);
});

test('[SCAN-3] without an answer it is asked again; then the setting decides, and a hook that is gone lets go', async () => {
  const { api } = chat.project;
  const give = async (onFailure: 'open' | 'closed') => {
    await api.call('setScanHook', { body: { url: receiver.url, onFailure } });
    receiver.answer = 500;
    const id = await upload();
    await scan();
    // Another process, or a minute too early: nothing is asked twice.
    await scan();
    for (const seconds of [10, 60, 300, 1_800]) {
      clock.jump(seconds * 1_000);
      await scan();
    }
    // The first time may have been with the upload.
    assert.equal(receiver.requests.filter((request) => eventIn(request).data['attachmentId'] === id).length, 5);
    [ann, bob] = [await chat.user('ann'), await chat.user('bob')];
    await ann.api.call('sendMessage', { room, body: { attachmentId: id } });
    return id;
  };
  await link(await give('open'));
  const closed = await give('closed');
  await assertRefused(link(closed), 409, 'SVC_ATTACHMENT_NOT_SCANNED');
  clock.jump(3_600_000);
  assert.equal(await scan(), 0);
  await api.call('removeScanHook');
  [ann, bob] = [await chat.user('ann'), await chat.user('bob')];
  await scan();
  await link(closed);
  assert.equal((await ann.api.call('completeAttachment', { attachmentId: closed })).scan, 'SKIPPED');
  await assertRefused(api.call('getScanHook'), 404, 'SVC_HOOK_NOT_FOUND');
  await assertRefused(api.call('setScanHook', { body: { url: 'http://10.0.0.1/' } }), 400, 'SVC_INVALID_WEBHOOK_URL');
});
