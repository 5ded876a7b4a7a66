import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { allRoutes, errors } from '@parley/contract';
import { builtDocs } from '@parley/docs/files';
import type { TestService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';
import { createLog } from '../core/log.ts';
import { createMetrics } from '../core/metrics.ts';
import { mountDocs } from './docs.ts';
import { createHttpServer } from './server.ts';

describe('documentation', () => {
  let service: TestService;
  before(async () => {
    // What `npm install` does; free where the sources have not changed since.
    await import('@parley/docs/build');
    service = await sharedService();
  });

  /** Every page that can be reached from the first one by links. */
  async function walk(): Promise<Map<string, string>> {
    const pages = new Map<string, string>();
    const open = ['/docs'];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (pages.has(path)) continue;
      const answer = await service.fetch(path);
      assert.equal(answer.status, 200, path);
      const html = await answer.text();
      pages.set(path, html);
      for (const [, href = ''] of html.matchAll(/href="(\/docs[^"#]*)/g)) if (!href.endsWith('.css')) open.push(href);
    }
    return pages;
  }

  test('[DOCS-1] every route has its section and every error code its row, and no link leads nowhere', async () => {
    const pages = await walk();
    assert.ok(pages.size > 15, `only ${pages.size} pages`);
    const reference = pages.get('/docs/reference') ?? '';
    assert.match(reference, /POST<\/code> <code>\/v1\/auth\/register/);
    for (const code of Object.keys(errors)) assert.ok(reference.includes(`id="${code}"`), code);
    const all = [...pages.values()].join('\n');
    for (const name of Object.keys(allRoutes)) assert.ok(all.includes(`<h2 id="${name}">`), name);
    for (const [path, html] of pages) {
      for (const [, target = '', hash = ''] of html.matchAll(/href="(\/docs[^"#]*|)#([^"]+)"/g)) {
        const page = pages.get(target === '' ? path : target) ?? '';
        assert.ok(page.includes(`id="${hash}"`), `${path} links to ${target}#${hash}`);
      }
    }
  });

  test('[DOCS-2] the pages run nothing, load nothing from elsewhere and are one main and one h1 each', async () => {
    for (const [path, html] of await walk()) {
      // Of elements: what code says is text.
      assert.doesNotMatch(html, /<script|<style|<[^>]+\s(?:style|on\w+)=/, path);
      for (const [, source = ''] of html.matchAll(/(?:src|<link[^>]*href)="([^"]*)"/g))
        assert.match(source, /^\//, path);
      assert.equal(html.match(/<h1/g)?.length, 1, path);
      assert.equal(html.match(/<main/g)?.length, 1, path);
    }
    for (const path of ['/docs', '/docs/reference']) {
      const { headers } = await service.fetch(path);
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    }
    for (const path of ['/docs/reference.css', '/docs/inter.woff2', '/docs/mono.woff2'])
      assert.equal((await service.fetch(path)).status, 200, path);
    assert.equal((await service.fetch('/docs/guides/..%2f..%2fpackage')).status, 404);
  });

  test('[DOCS-7] the first address answers curl in words, with the addresses that matter, and browsers with the dashboard', async () => {
    const answer = await service.fetch('/');
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/plain; charset=utf-8']);
    const text = await answer.text();
    assert.match(text, /^Parley \d+\.\d+\.\d+: /);
    for (const path of ['/docs', '/v1/openapi.json', '/llms.txt', '/healthz', '/readyz']) {
      assert.match(text, new RegExp(`http://\\S+${path}\\b`));
      assert.equal((await service.fetch(path)).status, 200, path);
    }
    const page = await service.fetch('/', { headers: { accept: 'text/html' } });
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.equal((await service.fetch('/nothing')).status, 404);
  });

  test('[DOCS-5] without a build the address says so and loads again by itself; then commands name the installation', async () => {
    let folder: string | null = null;
    const app = createHttpServer({
      table: {},
      log: createLog('silent'),
      metrics: createMetrics(),
      trustProxy: [],
      isDraining: () => false,
    });
    mountDocs(app, { folder: () => folder, fonts: {}, publicUrl: 'https://parley.example/a&b' });
    const waiting = await app.inject('/docs/reference/rooms');
    assert.equal(waiting.statusCode, 503);
    assert.deepEqual([waiting.headers['retry-after'], waiting.headers['refresh']], ['2', '2']);
    assert.match(waiting.body, /This page is being built/);
    assert.match(String(waiting.headers['content-security-policy']), /default-src 'none'/);
    assert.equal((await app.inject('/docs/reference.css')).statusCode, 200, 'the style needs no build');
    folder = builtDocs();
    const there = await app.inject('/docs/reference/rooms');
    assert.equal(there.statusCode, 200);
    assert.match(
      there.body,
      /curl<\/span> -s <span class="string">&quot;https:\/\/parley\.example\/a&amp;b\/v1\/rooms/,
    );
    await app.close();
  });
});
