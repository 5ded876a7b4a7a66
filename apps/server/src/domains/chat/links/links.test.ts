import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type ChatOf, type ChatUser, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { systemClock } from '../../../core/clock.ts';
import { sql } from '../../../core/sql.ts';
import { createPageFetch } from '../../webhooks/page-fetch.ts';
import { linkIn } from './link-in.ts';
import { previewIn, textOf } from './open-graph.ts';

let service: TestService;
let chat: ChatOf;
let ann: ChatUser;
let room: string;
let site: Server;
let base: string;
const asked: string[] = [];
const answers: Record<string, { status?: number; type?: string; location?: string; body?: string | Buffer }> = {};

before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
  ann = await chat.user('ann');
  room = (await chat.conversation(['ann'])).id;
  site = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { status = 200, type = 'text/html', location, body = '' } = answers[request.url ?? ''] ?? { status: 404 };
    response.writeHead(status, { 'content-type': type, ...(location ? { location } : {}) }).end(body);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
after(() => new Promise((resolve) => site.close(resolve)));

const look = () => service.service.chat.sweep.links();
const waiting = async () =>
  (
    await service.adapters.db.query(sql`
    select l.url from link_previews l join messages m on m.id = l.message_id
    join conversations c on c.id = m.conversation_id where c.public_id = ${room}`)
  ).length;

test('[LINK-1] a message gets the preview of its first link by a later change; off by default, gone with its text', async () => {
  const { api } = chat.project;
  answers['/page'] = {
    body: `<html><head><title>Plain</title><meta property="og:title" content="A &lt;b&gt;Title&lt;/b&gt; &#38; more">
      <meta name='description' content='Says "this" > that'><meta property=og:site_name content=Site>
      <meta property="og:image" content="/a.png"></head><body><meta property="og:title" content="no"></body>`,
  };
  const send = (text: string) => ann.api.call('sendMessage', { room, body: { text } });
  const seen = async (messageId: string) => (await ann.api.call('getMessage', { messageId })).linkPreview;
  const off = await send(`see ${base}/page.`);
  await look();
  assert.deepEqual([asked, await seen(off.id), await api.call('getLinkPreviews')], [[], undefined, { enabled: false }]);

  await api.call('setLinkPreviews', { body: { enabled: true } });
  const on = await eventually(async () => {
    const message = await send(`see (${base}/page#part), and ${base}/other`);
    await look();
    assert.ok(await seen(message.id));
    return message;
  });
  const preview = {
    url: `${base}/page`,
    title: 'A <b>Title</b> & more',
    description: 'Says "this" > that',
    siteName: 'Site',
    imageUrl: `${base}/a.png`,
  };
  assert.deepEqual(await seen(on.id), preview);
  const { changes } = await ann.api.call('listChanges', { room, query: {} });
  assert.deepEqual(
    changes.map(({ change }) => change),
    changes.map((_, at) => (changes[0]?.change ?? 0) + at),
  );
  assert.equal(changes.at(-1)?.type, 'message.updated');
  const { messages } = await ann.api.call('listMessages', { room, query: { limit: 1 } });
  assert.deepEqual([messages[0]?.linkPreview, messages[0]?.edited], [preview, false]);

  // A page does not make the browsers of readers knock at what is near them.
  for (const near of [
    'http://192.168.1.1/reboot',
    'http://169.254.169.254/a.png',
    'http://router.local/',
    'http://a.example:6379/',
  ]) {
    answers['/near'] = { body: `<title>Near</title><meta property="og:image" content="${near}">` };
    const { id } = await send(`${base}/near`);
    await look();
    assert.deepEqual([(await seen(id))?.title, (await seen(id))?.imageUrl], ['Near', null], near);
    await ann.api.call('deleteMessage', { messageId: id });
  }

  const edit = (text: string) => ann.api.call('editMessage', { messageId: on.id, body: { text } });
  assert.equal('linkPreview' in (await edit('nothing here')), false);
  await look();
  assert.equal(await seen(on.id), undefined);
  await edit(`again ${base}/page`);
  await look();
  assert.deepEqual(await seen(on.id), preview);
  const deleted = await ann.api.call('deleteMessage', { messageId: on.id });
  assert.equal('linkPreview' in deleted, false);
  // A text that is replaced while its link is looked at has no preview of it.
  answers['/other'] = { body: '<title>Other</title>' };
  const late = await send(`${base}/other`);
  await ann.api.call('deleteMessage', { messageId: late.id });
  await look();
  assert.equal(await waiting(), 0);
});

test('[LINK-2] only a page that says what it is gets one, and no address that webhooks may not reach', async () => {
  const fetcher = createPageFetch({
    clock: systemClock,
    rules: { isProduction: false, allowPrivate: true },
    // A name that is public when it is looked at first, and ours when it is looked at again.
    resolve: async (name) => (name === 'rebind.example' ? ['93.184.216.34', '127.0.0.1'] : ['10.0.0.7']),
  });
  after(() => fetcher.close());
  answers['/file'] = { type: 'application/pdf', body: 'x' };
  answers['/to'] = { status: 302, location: '/ok' };
  answers['/ok'] = { body: '<title>Ok</title>' };
  answers['/loop'] = { status: 302, location: '/loop' };
  answers['/long'] = { body: Buffer.concat([Buffer.from('<title>Long</title>'), Buffer.alloc(400_000, 32)]) };
  for (const [path, location] of [
    ['/metadata', 'http://169.254.169.254/latest'],
    ['/private', 'http://10.0.0.1/'],
    ['/named', 'http://internal.example/'],
    ['/odd', 'file:///etc/passwd'],
    ['/user', 'http://a:b@example.com/'],
  ] as const)
    answers[path] = { status: 302, location };
  const get = (url: string, environment: 'DEVELOPMENT' | 'PRODUCTION' = 'DEVELOPMENT') =>
    fetcher.fetch(url, environment);
  for (const path of ['/file', '/loop', '/metadata', '/private', '/named', '/odd', '/user', '/missing'])
    assert.equal(await get(`${base}${path}`), null, path);
  assert.equal((await get(`${base}/to`))?.url, `${base}/ok`);
  assert.equal((await get(`${base}/long`))?.body.length, 256 * 1024);
  for (const url of [
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'http://private.example/',
    'http://[::ffff:10.0.0.1]/',
  ])
    assert.equal(await get(url), null, url);
  assert.equal(await get('http://rebind.example/', 'PRODUCTION'), null);
  const before = asked.length;
  assert.equal(await get(`${base}/ok`, 'PRODUCTION'), null);
  assert.equal(asked.length, before);

  assert.equal(previewIn('<p>no title</p>', base), null);
  assert.equal(previewIn(`<title>${'a'.repeat(500)}\u202e</title>`, base)?.title.length, 120);
  assert.equal(
    previewIn('<title>x</title><meta property="og:image" content="javascript:alert(1)">', base)?.imageUrl,
    null,
  );
  const latin = Buffer.from('<meta charset="iso-8859-1"><title>K\xe4se</title>', 'latin1');
  assert.equal(previewIn(textOf(latin, 'text/html'), base)?.title, 'Käse');
  assert.equal(
    previewIn(textOf(Buffer.from('<title>Käse</title>'), 'text/html; charset=nonsense'), base)?.title,
    'Käse',
  );
  // A tag is read once, whatever its words hold: nothing that a page can say makes it slow.
  const within = `<title>x</title><meta name='a' content='<meta property="og:title" content="y">'>`;
  assert.equal(previewIn(within, base)?.title, 'x');
  for (const hostile of [
    '<meta '.repeat(40_000),
    `<meta ${'a="'.repeat(60_000)}`,
    '<title>'.repeat(30_000),
    '<'.repeat(250_000),
    `<meta ${'a'.repeat(640)}`.repeat(400),
  ])
    previewIn(hostile, base);

  assert.deepEqual(
    [
      'no link',
      'https://example.com/a_(b).',
      '<https://example.com/x>',
      'http://a:b@example.com',
      'https://nodots/',
      `https://example.com/${'a'.repeat(2_000)}`,
    ].map(linkIn),
    [undefined, 'https://example.com/a_(b', 'https://example.com/x', undefined, undefined, undefined],
  );
});
