import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { allRoutes, errors } from '@parley/contract';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { linkFrom } from './documents.ts';
import { highlight } from './highlight.ts';
import { renderMarkdown } from './markdown.ts';

describe('documentation', () => {
  let service: TestService;
  before(async () => {
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
      assert.doesNotMatch(html, /<script|<style|\sstyle=|\son\w+=/, path);
      for (const [, source = ''] of html.matchAll(/(?:src|<link[^>]*href)="([^"]*)"/g))
        assert.match(source, /^\//, path);
      assert.equal(html.match(/<h1/g)?.length, 1, path);
      assert.equal(html.match(/<main/g)?.length, 1, path);
    }
    const answer = await service.fetch('/docs');
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    for (const path of ['/docs/reference.css', '/docs/inter.woff2', '/docs/mono.woff2'])
      assert.equal((await service.fetch(path)).status, 200, path);
    assert.equal((await service.fetch('/docs/guides/..%2f..%2fpackage')).status, 404);
  });
});

test('[DOCS-3] guides are Markdown; what is not is shown, never run', () => {
  const known = new Set(['/docs/guides/chat', '/docs/benchmarks']);
  const { title, lead, html } = renderMarkdown(
    [
      '# Rooms & `calls`',
      '<!-- not shown -->',
      'The **first** paragraph with [a link](./chat.md#x), <script>alert(1)</script> and [bad](javascript:alert).',
      '- one\n  - nested',
      '1. first\n2. second',
      '| A | B |\n| --- | --- |\n| `x | y` | z |',
      "```ts\nconst a = '<';\n```",
      '> quoted',
    ].join('\n\n'),
    (target) => linkFrom('guides/rooms.md', target, known),
  );
  assert.equal(title, 'Rooms & calls');
  assert.match(lead, /^The first paragraph with a link,/);
  assert.match(html, /<h1 id="rooms--calls">Rooms &amp; <code>calls<\/code><\/h1>/);
  assert.match(html, /<a href="\/docs\/guides\/chat#x">a link<\/a>, &lt;script&gt;/);
  assert.doesNotMatch(html, /not shown|href="javascript/);
  assert.match(html, /<ul><li>one\n<ul><li>nested<\/li><\/ul><\/li><\/ul>/);
  assert.match(html, /<ol><li>first<\/li><li>second<\/li><\/ol>/);
  assert.match(html, /<td><code>x \| y<\/code><\/td><td>z<\/td>/);
  assert.match(html, /<span class="keyword">const<\/span> a = <span class="string">'&lt;'<\/span>;/);
  assert.match(html, /<blockquote><p>quoted<\/p><\/blockquote>/);
  assert.equal(highlight('<b>', 'unknown'), '&lt;b&gt;');
  for (const [target, href] of [
    ['../reference/errors.md#SVC_X', '/docs/reference#SVC_X'],
    ['../benchmarks/', '/docs/benchmarks'],
    ['../benchmarks/README.md', '/docs/benchmarks'],
    ['../../apps/server/src/main.ts', ''],
    ['missing.md', ''],
  ] as const)
    assert.equal(linkFrom('guides/a.md', target, known), href, target);
});
