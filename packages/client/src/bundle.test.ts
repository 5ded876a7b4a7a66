import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { VERSION } from './version.ts';

/** Gzipped size of what a page loads for one entry, as a bundler makes it; parts that are asked for later apart. */
async function weigh(entry: string): Promise<{ bytes: number; laterBytes: number; code: string }> {
  const bundle = await rolldown({ input: new URL(entry, import.meta.url).pathname, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  const later = chunks.filter(({ isDynamicEntry }) => isDynamicEntry).map(({ code }) => code);
  const code = chunks.filter(({ isDynamicEntry }) => !isDynamicEntry).map((chunk) => chunk.code);
  const size = (texts: string[]): number => gzipSync(texts.join('\n'), { level: 9 }).length;
  return { bytes: size(code), laterBytes: later.length > 0 ? size(later) : 0, code: code.join('\n') };
}

test('[SDK-7] the chat client is at most 13 kB gzipped and carries no schema library', async (context) => {
  const { bytes, laterBytes, code } = await weigh('./chat/index.ts');
  context.diagnostic(`chat: ${bytes} bytes gzipped; IndexedDB queue, when asked for: ${laterBytes}`);
  assert.ok(code.includes('svc.chat.v1'), 'the bundle has the client in it');
  assert.ok(bytes <= 13_000, `${bytes} bytes`);
  assert.ok(!code.includes('~kind') && !code.includes('typebox'));
});

test('[SDK-7] rooms, streams and chat together are at most 32 kB gzipped', async (context) => {
  const { bytes, code } = await weigh('./index.ts');
  context.diagnostic(`rooms: ${bytes} bytes gzipped`);
  assert.ok(code.includes('svc.rtc.v1') && code.includes('svc.chat.v1'));
  assert.ok(bytes <= 32_000, `${bytes} bytes`);
  assert.ok(!code.includes('~kind') && !code.includes('typebox'));
});

test('[SDK-7] the version the SDK reports is that of its package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  assert.equal(VERSION, version);
});
