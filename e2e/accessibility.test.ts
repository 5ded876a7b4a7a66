import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, assertAccessibleInBothThemes } from './accessibility.ts';
import { sharedChromium, skipWithoutBrowser } from './browser.ts';

const document = (style: string, more = ''): string =>
  `<!doctype html><html lang="en"><title>A page</title><style>body { background: #fff; color: #111 } ${style}</style>
  <main><h1>Title</h1><p>Text with <a href="#a">a link</a></p><ul><li>one</li></ul><button>Go</button>
  <label>Name <input></label>${more}</main></html>`;

test('[DASH-1] the check of pages finds what cannot be read or is not named, also where it found all well before', {
  skip: skipWithoutBrowser(),
}, async () => {
  const page = await (await sharedChromium()).newPage();
  await page.setContent(document(''));
  await assertAccessible(page, 'a good page');
  const bad = {
    'pale text': document('p { color: #bbb }'),
    'faint text': document('', '<p style="opacity: 0.3">faint</p>'),
    'text through which its background shines': document('', '<p style="color: rgb(17 17 17 / 40%)">thin</p>'),
    'text on a tinted background': document('', '<p style="background: rgb(0 0 0 / 50%); color: #333">shaded</p>'),
    'text on another background': document('', '<div style="background: #333"><p>dark on dark</p></div>'),
    'another theme': document('@media (prefers-color-scheme: dark) { body { background: #000; color: #222 } }'),
  };
  for (const [what, html] of Object.entries(bad)) {
    await page.setContent(html);
    for (const _ of [1, 2]) await assert.rejects(assertAccessibleInBothThemes(page, what), /color-contrast/, what);
  }
  const blueLink = document('a { color: #1a1a2e; text-decoration: none }');
  for (const _ of [1, 2]) {
    await page.setContent(blueLink);
    await assert.rejects(assertAccessible(page, 'a link that looks like its words'), /link-in-text-block/);
  }
  const tiny = '<button style="padding: 0; border: 0; width: 14px; height: 14px">x</button>';
  await page.setContent(document('', `<p>${tiny}</p>`));
  await assertAccessible(page, 'something small with room around it');
  await page.setContent(document('', `<p style="font-size: 0">${tiny}${tiny}</p>`));
  await assert.rejects(assertAccessible(page, 'two small things side by side'), /target-size/);
  await page.setContent(document('', '<img src="data:,">'));
  await assert.rejects(assertAccessible(page, 'a picture without words'), /image-alt/);
  const framed = (link: string): string =>
    document('').replace('<main>', `<nav aria-label="Menu"><a href="#b">${link}</a></nav><main>`);
  await page.setContent(framed('Home'));
  for (const _ of [1, 2]) await assertAccessible(page, 'a page with a menu');
  await page.setContent(framed('<img src="data:,">'));
  await assert.rejects(assertAccessible(page, 'another menu'), /image-alt/);
  await page.setContent(framed('Home').replace('<html lang="en">', '<html>'));
  await assert.rejects(assertAccessible(page, 'a whole page around a known menu'), /html-has-lang/);
  await page.close();
});
