import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compilePattern, PatternRefused } from './linear-pattern.ts';
import { compileLists, hasLink, judge } from './rules.ts';

const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', 'c');
const pattern = fc.letrec<{ one: string }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 4 },
    atom,
    fc.tuple(tie('one'), tie('one')).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie('one'), tie('one')).map(([left, right]) => `(?:${left}|${right})`),
    fc.tuple(tie('one'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}')).map(([part, times]) => `(?:${part})${times}`),
    tie('one').map((part) => `\\b${part}`),
  ),
})).one;
const text = fc.array(fc.constantFrom('a', 'B', 'c', '1', ' ', '\n', 'é', '😀'), { maxLength: 12 });

/** Every place that some match covers, tried one by one with the engine of the language. */
function covered(source: string, points: readonly string[]): boolean[] {
  const whole = points.join('');
  const offsets = [0];
  for (const point of points) offsets.push((offsets.at(-1) ?? 0) + point.length);
  const cover = points.map(() => false);
  for (let from = 0; from < points.length; from++)
    for (let to = from + 1; to <= points.length; to++) {
      // Anchored at both ends by what stands around it, so that borders of words are seen.
      const expression = new RegExp(
        `(?<=^[^]{${offsets[from]}})(?:${source})(?=[^]{${whole.length - (offsets[to] ?? 0)}}$)`,
        'i',
      );
      if (expression.test(whole)) cover.fill(true, from, to);
    }
  return cover;
}

test('[MOD-10] patterns find what the engine of the language finds, in bounded time', () => {
  fc.assert(
    fc.property(pattern, text, (source, points) => {
      // That engine sees halves of characters without the flag `u`, and ours has letters of every script in a word.
      const plain = points.filter((point) => point.charCodeAt(0) < 128);
      const cover = plain.map(() => false);
      for (const [from, to] of compilePattern(source).find(plain, false)) cover.fill(true, from, to);
      assert.deepEqual(cover, covered(source, plain), `${source} on ${JSON.stringify(plain.join(''))}`);
      assert.equal(compilePattern(source).find(plain, true).length > 0, cover.includes(true));
    }),
    { numRuns: 150 },
  );
});

test('[MOD-10] what cannot be run in bounded time, or is too large, is refused', () => {
  for (const source of [
    '(a)\\1',
    'a(?=b)',
    '(?<!a)b',
    '(?<n>a)',
    '((a{50}){50}){50}',
    'a{101}',
    '(',
    ')',
    '[a',
    '*a',
    '\\',
  ])
    assert.throws(() => compilePattern(source), PatternRefused, source);
  // Catastrophic for an engine that goes back: here the steps are counted, by the characters that are looked at.
  let looks = 0;
  const points = new Proxy([...'a'.repeat(4_000), '!'], {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) looks++;
      return Reflect.get(target, key);
    },
  });
  assert.deepEqual(compilePattern('^(a+)+$').find(points, true), []);
  assert.ok(looks < 10 * points.length, `${looks}`);
});

test('[MOD-9] words are found whatever their case, accents and width, as whole words, and phrases', async () => {
  const lists = compileLists([
    { name: 'rude', action: 'mask', words: ['Blöd', 'straße', 'go away', '笨蛋'], patterns: ['\\bx+y\\b', '\\ba\\-b'] },
    { name: 'worse', action: 'reject', words: ['awful'] },
    { name: 'look', action: 'flag', words: ['money'], patterns: ['\\d{4} ?\\d{4}'] },
  ]);
  const rules = { links: 'allowed' as const, lists };
  const passed = (given: string, text: string, ...flaggedBy: string[]) =>
    judge(rules, given).then((verdict) => assert.deepEqual(verdict, { is: 'passed', text, flaggedBy }));
  await passed('so BLO\u0308D, so bl\u00f6d', 'so *****, so ****');
  await passed('bl\u00f6de blodx', 'bl\u00f6de blodx');
  await passed('die STRASSE', 'die *******');
  await passed('ｂｌｏｄ!', '****!');
  await passed('Go, Away. go far away', '********. go far away');
  await passed('你笨蛋啊', '你**啊');
  await passed('😀 xxxY 😀 xxyz', '😀 **** 😀 xxyz');
  await passed('a-b / a-b', '*** / ***');
  await passed('MONEY 1234 5678', 'MONEY 1234 5678', 'look');
  // Characters that nobody sees hide nothing.
  await passed('bl\u200bö\u00add, go\ufe0f a\u2060way', `${'*'.repeat(6)}, ${'*'.repeat(9)}`);
  await passed('你笨\u200b\u{e0101}蛋啊', '你****啊');
  await passed('\u200b\ufe0f', '\u200b\ufe0f');
  assert.deepEqual(await judge(rules, 'aw\u200dful'), { is: 'rejected', list: 'worse' });
  assert.deepEqual(await judge(rules, 'blöd and Áwful'), { is: 'rejected', list: 'worse' });
});

test('[MOD-11] links are addresses with a scheme, www, and names with a known ending', () => {
  for (const text of ['see https://a.b', 'WWW.x', 'go to example.com now', 'a.b.io/x', 'bücher.de', 'svn+ssh://host'])
    assert.ok(hasLink(text), text);
  for (const text of ['the end.Next', 'a@example.com', 'e.g. this', '3.14', 'v1.2.3', 'http:/x', 'well...com'])
    assert.ok(!hasLink(text), text);
});
