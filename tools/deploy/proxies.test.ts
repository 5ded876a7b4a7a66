import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createAuthority } from '../../apps/server/testkit/peers/tls-receiver.ts';
import { type ProxyCommand, prepareCaddy, prepareNginx, versionOf } from './proxy-files.ts';

const PATH = `${process.env['PATH']}:/usr/sbin`;
const missing = (program: string, option: string): string | false =>
  versionOf(program, option) === null && `${program} is not installed: apt-get install ${program}`;

describe('[DEP-7] the shipped configuration of', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-proxy-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  // Nothing listens in a check.
  const place = () => ({ folder, httpPort: 8080, httpsPort: 8443, upstream: '127.0.0.1:4000' });
  const passes = ({ program, check, env }: ProxyCommand): void => {
    const { status, stderr } = spawnSync(program, check, { env: { PATH, ...env }, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };

  test('Caddy passes caddy validate', { skip: missing('caddy', 'version') }, () => passes(prepareCaddy(place())));

  test('nginx passes nginx -t', { skip: missing('nginx', '-v') }, async () => {
    const authority = await createAuthority();
    passes(prepareNginx(place(), await authority.issue('localhost')));
    await authority.remove();
  });

  test('both keeps /metrics inside', () => {
    for (const file of ['compose/Caddyfile', 'nginx/parley.conf'])
      assert.match(readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8'), /\/metrics/, file);
  });
});
