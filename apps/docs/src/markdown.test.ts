import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkFrom } from './documents.ts';
import { highlight } from './highlight.ts';
import { renderMarkdown } from './markdown.ts';

test('[DOCS-3] guides are Markdown; what is not is shown, never run', () => {
  const known = new Set(['/docs/guides/chat', '/docs/benchmarks']);
  const { title, lead, html } = renderMarkdown(
    [
      '# Rooms & `calls`',
      '<!-- not shown -->',
      'The **first** paragraph with [a link](./chat.md#x), <script>alert(1)</script> and [bad](javascript:alert).<!-- not shown -->',
      '<div onclick="alert(1)">\n**strong**\n</div>',
      '![A chart](https://charts.example/a.png)',
      '- one\n  - nested',
      '1. first\n2. second',
      '| A | B |\n| --- | --- |\n| `x \\| y` | z |',
      "```ts\nconst a = '<'; // <!-- shown -->\n```",
      '> quoted',
    ].join('\n\n'),
    (target) => linkFrom('guides/rooms.md', target, known),
  );
  assert.equal(title, 'Rooms & calls');
  assert.match(lead, /^The first paragraph with a link,/);
  assert.match(html, /<h1 id="rooms--calls">Rooms &amp; <code>calls<\/code><\/h1>/);
  assert.match(html, /<a href="\/docs\/guides\/chat#x">a link<\/a>, &lt;script&gt;/);
  assert.doesNotMatch(html, /not shown|href="javascript|<div onclick|<img/);
  assert.match(
    html,
    /<p>&lt;div onclick=&quot;alert\(1\)&quot;&gt;\n<strong>strong<\/strong><\/p>\n<p>&lt;\/div&gt;<\/p>/,
  );
  assert.match(html, /<a href="https:\/\/charts.example\/a.png">A chart<\/a>/);
  assert.match(html, /<ul>\n<li>one<ul>\n<li>nested<\/li>\n<\/ul>\n<\/li>\n<\/ul>/);
  assert.match(html, /<ol>\n<li>first<\/li>\n<li>second<\/li>\n<\/ol>/);
  assert.match(html, /<td><code>x \| y<\/code><\/td><td>z<\/td>/);
  assert.match(
    html,
    /<span class="keyword">const<\/span> a = <span class="string">'&lt;'<\/span>; <span class="comment">\/\/ &lt;!-- shown/,
  );
  assert.match(html, /<blockquote>\n<p>quoted<\/p>\n<\/blockquote>/);
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
