import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../../apps/server/testkit/kit/ports.ts';
import { bareEnv, briefFromWithin } from '../../../apps/server/testkit/kit/process.ts';
import { parley } from '../testkit/run.ts';

async function backUpAndRestore(folder: string): Promise<void> {
  const archive = join(folder, 'archive.parley');
  const written = await parley(['backup', archive], { DATA_DIR: folder });
  assert.equal(written.code, 0, written.error);
  assert.match(written.out, /archive\.parley: [\d,]+ rows, \d+ files \(\d+ bytes\), and the secrets\./);
  assert.match(written.error, /^Database: .*\n[\s\S]*It is not encrypted: anyone who reads it has every secret\./);
  const target = join(folder, 'elsewhere');
  const restored = await parley(['restore', archive], { DATA_DIR: target });
  assert.match(restored.out, /^Restored [\d,]+ rows/, restored.error);
  assert.match(restored.out, /The secrets are in .*secrets\.json/);
  for (const name of ['secrets.json', 'dev.env'])
    assert.equal(await readFile(join(target, name), 'utf8'), await readFile(join(folder, name), 'utf8'));
  const again = await parley(['restore', archive], { DATA_DIR: target });
  assert.deepEqual([again.code, again.out], [1, '']);
  assert.match(again.error, /elsewhere holds a database: restore into another DATA_DIR, or move this one away\.\n$/);
}

test('[CLI-7] [RUN-24] dev runs everything, with less text allowed than its demo has, until it is stopped; [BAK-9] it is backed up meanwhile and restored elsewhere', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-cli-'));
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const port = await ownPort();
  const child = spawn(process.execPath, [main, 'dev', '--json'], {
    env: {
      ...bareEnv(),
      ...briefFromWithin,
      DATA_DIR: folder,
      PORT: String(port),
      SFU_EMBEDDED: 'false',
      CHAT_MAX_TEXT_LENGTH: '10',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const ended = once(child, 'exit');
  try {
    const facts = await eventually(() => JSON.parse(out) as Record<string, string>, { withinMs: 60_000 });
    assert.equal(facts['url'], `http://localhost:${port}`);
    assert.match(facts['signIn'] ?? '', /\/dev\/login\?code=/);
    assert.equal((await parley(['status'], { DATA_DIR: folder })).code, 0);
    await backUpAndRestore(folder);
  } finally {
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
    await rm(folder, { recursive: true, force: true });
  }
});
