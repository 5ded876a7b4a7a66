/**
 * Proof that a real Caddy and a real nginx with the shipped configuration carry a call and a chat: signaling, sockets
 * and requests go through them by TLS, media goes past them. `node tools/proof/proxies.ts`, with both installed.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { ownPort } from '../../apps/server/testkit/kit/ports.ts';
import { newDataDir, startProcess } from '../../apps/server/testkit/kit/process.ts';
import { createAuthority } from '../../apps/server/testkit/peers/tls-receiver.ts';
import { embeddedNode } from '../../e2e/node-process.ts';
import { caddyAuthority, type ProxyCommand, prepareCaddy, prepareNginx, versionOf } from '../deploy/proxy-files.ts';
import { smoke } from './machine/smoke.ts';

interface Proxy {
  command: ProxyCommand;
  /** File with the authority of its certificate. */
  ca: string;
}

/** The status of a path, by TLS that is not verified: what matters here is the proxy's answer. */
async function statusOf(url: string): Promise<number> {
  const asked = request(url, { rejectUnauthorized: false }).end();
  const [answer] = await once(asked, 'response');
  answer.resume();
  return answer.statusCode;
}

async function prove(name: string, { command, ca }: Proxy, publicUrl: string, apiKey: string): Promise<void> {
  const { program, run, env } = command;
  const child = spawn(program, run, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  try {
    await eventually(async () => existsSync(ca) && (await statusOf(`${publicUrl}/readyz`)) === 200, {
      withinMs: 30_000,
    });
    assert.equal(await statusOf(`${publicUrl}/metrics`), 404);
    console.log(`${name}: ${await smoke(publicUrl, apiKey, ca)}`);
  } catch (error) {
    console.error(output);
    throw error;
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

const folder = await mkdtemp(join(tmpdir(), 'parley-proxies-'));
const authority = await createAuthority();
const [httpPort, httpsPort] = [await ownPort(), await ownPort()];
const publicUrl = `https://localhost:${httpsPort}`;
const variables = { ...(await embeddedNode()), TRUST_PROXY: '127.0.0.1', PUBLIC_URL: publicUrl };
const server = await startProcess({ ...variables, DATA_DIR: await newDataDir() });
try {
  const { SVC_API_KEY: apiKey = '' } = await server.devEnv();
  const place = { folder, httpPort, httpsPort, upstream: `127.0.0.1:${server.port}` };
  for (const [name, option] of [
    ['caddy', 'version'],
    ['nginx', '-v'],
  ] as const) {
    const version = versionOf(name, option);
    if (version === null) {
      console.log(`${name} is not installed: apt-get install ${name}`);
      continue;
    }
    const command = name === 'caddy' ? prepareCaddy(place) : prepareNginx(place, await authority.issue('localhost'));
    await prove(
      version,
      { command, ca: name === 'caddy' ? caddyAuthority(folder) : authority.file },
      publicUrl,
      apiKey,
    );
  }
} finally {
  await server.kill('SIGTERM');
  await authority.remove();
  await rm(folder, { recursive: true, force: true });
  await rm(server.dataDir, { recursive: true, force: true });
}
