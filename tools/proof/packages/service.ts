import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Parley } from '@parley/server';
import { install, ownPorts, type Prepared, start } from './prepared.ts';

const readyMsMax = 5_000;

/** `parley dev` and `parley serve` of the installed packages, in a new folder, in every Node. */
export async function proveService(prepared: Prepared): Promise<void> {
  const { work, tarballs, nodes } = prepared;
  const main = join(install(join(work, 'service'), tarballs), 'node_modules', '@parley', 'cli', 'src', 'main.js');
  for (const { path, version } of nodes) {
    const readyMs: number[] = [];
    for (const run of ['first', 'next']) {
      const cwd = join(work, `dev-${version}-${run}`);
      mkdirSync(cwd);
      readyMs.push(await proveDev(path, main, cwd));
    }
    const [first = 0, warm = 0] = readyMs.map(Math.round);
    console.log(
      `  ${version} parley dev: ready in ${first} ms, in ${warm} ms with a warm cache (at most ${readyMsMax})`,
    );
    if (warm > readyMsMax) process.exitCode = 1;
    await proveServe(path, main, join(work, `serve-${version}`));
    console.log(`  ${version} parley serve: ready, with the link of its first account`);
  }
}

async function proveDev(node: string, main: string, cwd: string): Promise<number> {
  const env = { ...(await ownPorts()), LOG_LEVEL: 'warn' };
  const service = await start([node, main, 'dev', '--json'], { cwd, env, until: /"mediaProblem".*\}\n/ });
  try {
    const { url, readyInMs, mediaProblem } = JSON.parse(/^\{"version".*\}$/m.exec(service.printed)?.[0] ?? '{}');
    assert.equal(mediaProblem, null);
    for (const page of ['/', '/docs/guides/chat', '/playground/room/demo']) {
      const { status } = await fetch(`${url}${page}`, { headers: { accept: 'text/html' } });
      assert.equal(status, 200, page);
    }
    const [, apiKey = ''] = /SVC_API_KEY='(.+)'/.exec(readFileSync(join(cwd, '.parley', 'dev.env'), 'utf8')) ?? [];
    const { status } = await new Parley({ apiKey, baseUrl: url }).rooms.create({ name: 'proof' });
    assert.equal(status, 'ACTIVE');
    // A call and a chat, whose packets and messages are counted.
    execFileSync(node, [main, 'loadtest', '--seconds', '3'], {
      cwd,
      env: { ...env, SVC_URL: url, SVC_API_KEY: apiKey },
    });
    return readyInMs;
  } finally {
    await service.stop();
  }
}

async function proveServe(node: string, main: string, cwd: string): Promise<void> {
  mkdirSync(cwd);
  const env: Record<string, string> = {
    ...(await ownPorts()),
    PUBLIC_URL: 'https://calls.example.com',
    SFU_ANNOUNCED_HOST: '127.0.0.1',
    SFU_TURN_PORT: 'off',
  };
  const service = await start([node, main, 'serve'], { cwd, env, until: /"msg":"ready"/ });
  try {
    assert.match(service.printed, /first-account\?token=/);
    assert.equal((await fetch(`http://127.0.0.1:${env['PORT']}/readyz`)).status, 200);
  } finally {
    await service.stop();
  }
}
