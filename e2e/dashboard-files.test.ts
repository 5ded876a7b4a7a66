import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { dashboardFolder } from '@parley/dashboard/files';
import { createLog } from '../apps/server/src/core/log.ts';
import { createMetrics } from '../apps/server/src/core/metrics.ts';
import { createHttpServer } from '../apps/server/src/http/server.ts';
import { mountPages } from '../apps/server/src/http/static.ts';
import type { TestService } from '../apps/server/testkit/kit/service.ts';
import { type DashboardKit, startDashboard } from './dashboard-kit.ts';

const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml' } };
const firstLoadMax = 140_000;

describe('dashboard files', () => {
  let kit: DashboardKit;
  let service: TestService;
  before(async () => {
    kit = await startDashboard();
    ({ service } = kit);
  });
  after(() => kit?.close());

  /** What the page names: scripts, their preloads and the style sheet. */
  const firstFiles = (html: string): string[] =>
    [...html.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map((match) => match[1] ?? '');

  test('[DASH-20] the first load is at most 140 kB of gzipped script and style, without the inspector of calls', () => {
    const folder = dashboardFolder();
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    const files = firstFiles(html);
    assert.ok(files.some((file) => file.endsWith('.css')) && files.filter((file) => file.endsWith('.js')).length > 1);
    const bytes = files.map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length);
    const total = bytes.reduce((sum, size) => sum + size, 0);
    assert.ok(total > 50_000, `only ${total} bytes: the page does not name what it loads`);
    assert.ok(total <= firstLoadMax, `first load is ${total} bytes gzipped`);
    const hasInspector = (file: string): boolean => readFileSync(join(folder, file), 'utf8').includes('lane-track');
    const scripts = readdirSync(join(folder, 'assets')).filter((file) => file.endsWith('.js'));
    const withInspector = scripts.map((file) => `/assets/${file}`).filter(hasInspector);
    assert.ok(
      withInspector.length > 0 && !files.some((file) => withInspector.includes(file)),
      'the inspector is loaded',
    );
  });

  test('[DASH-21] every address a person may open is the page, with a policy that allows nothing inline or foreign', async () => {
    for (const path of ['/', '/login', '/p/some-project/rooms?env=production', '/verify-email?token=x']) {
      const answer = await service.fetch(path, asBrowser);
      assert.equal(answer.status, 200, path);
      const policy = answer.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /script-src 'self';/);
      assert.match(policy, /style-src 'self';/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      assert.equal(answer.headers.get('cache-control'), 'no-cache');
      const html = await answer.text();
      assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\bstyle=|\son\w+=/);
      assert.match(html, /name="parley-mode" content="development"/);
    }
  });

  test('[DASH-22] what belongs to the API, the docs or nobody stays a 404 of the API', async () => {
    for (const path of ['/v1/nothing', '/docs/nothing', '/dev/nothing', '/assets/nothing.js']) {
      const answer = await service.fetch(path, asBrowser);
      assert.equal(answer.status, 404, path);
      assert.match(await answer.text(), /SVC_NOT_FOUND/);
    }
    assert.equal((await service.fetch('/anything')).status, 404, 'a program gets no page');
    for (const path of ['/assets/..%2findex.html', '/..%2f..%2fpackage.json', '/assets/%2e%2e/%2e%2e/package.json']) {
      assert.equal((await service.fetch(path)).status, 404, path);
    }
  });

  test('[DASH-23] files with a hash in their name are kept for a year, and sent compressed', async () => {
    const html = await (await service.fetch('/', asBrowser)).text();
    const script = firstFiles(html).find((file) => file.startsWith('/assets/') && file.endsWith('.js')) ?? '';
    const raw = await service.fetch(script, { headers: { 'accept-encoding': 'identity' } });
    assert.equal(raw.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(raw.headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(raw.headers.get('content-encoding'), null);
    const body = await raw.text();
    for (const encoding of ['br', 'gzip']) {
      const packed = await service.fetch(script, { headers: { 'accept-encoding': encoding } });
      assert.equal(packed.headers.get('content-encoding'), encoding);
      assert.ok(Number(packed.headers.get('content-length')) < body.length / 2);
      assert.equal(await packed.text(), body);
    }
    const etag = raw.headers.get('etag') ?? '';
    assert.equal((await service.fetch(script, { headers: { 'if-none-match': etag } })).status, 304);
  });
});

test('[DASH-24] without a build the address says so, loads again by itself and becomes the page', async () => {
  let folder: string | null = null;
  const app = createHttpServer({
    table: {},
    log: createLog('silent'),
    metrics: createMetrics(),
    trustProxy: [],
    isDraining: () => false,
  });
  mountPages(app, { prefix: '', folder: () => folder, isProduction: true, publicUrl: 'https://parley.example' });
  const open = () => app.inject({ url: '/p/x/rooms', headers: asBrowser.headers });
  const waiting = await open();
  assert.equal(waiting.statusCode, 503);
  assert.deepEqual([waiting.headers['retry-after'], waiting.headers['refresh']], ['2', '2']);
  assert.match(waiting.body, /This page is being built/);
  assert.match(String(waiting.headers['content-security-policy']), /default-src 'none'/);
  assert.equal((await app.inject({ url: '/v1/rooms' })).statusCode, 404, 'the API stays the API');
  folder = dashboardFolder();
  const there = await open();
  assert.equal(there.statusCode, 200);
  assert.match(there.body, /<div id="root">/);
  assert.match(there.body, /name="parley-mode" content="production"/);
  await app.close();
});
