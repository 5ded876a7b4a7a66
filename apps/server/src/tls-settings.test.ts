import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../testkit/kit/eventually.ts';
import { startService } from '../testkit/kit/service.ts';
import { createAuthority } from '../testkit/peers/tls-receiver.ts';
import { ConfigError, readConfig, type Variables } from './config.ts';
import { examine, type Finding } from './doctor/index.ts';
import { settings } from './settings.ts';

const secret = 'Zk3vQ8sT1xW6yB9nM4rJ7pL2dF5gH0aC';
const behindProxy = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://calls.parley.dev',
  SECRET_KEY: secret,
  SFU_REGISTRATION_SECRET: secret.toLowerCase(),
};
/** What is read before secrets are asked for. */
const read = (variables: Variables) =>
  settings.read({
    isProduction: variables['NODE_ENV'] === 'production',
    text: (name) => variables[name] ?? null,
    report: () => undefined,
  });
const decided = (variables: Variables) => {
  const { tls, port } = read(variables);
  return [tls.kind, port];
};
const { SECRET_KEY: _, ...alone } = behindProxy;

test('[TLS-10] a set-up behind a proxy is as before', () => {
  assert.deepEqual(decided(behindProxy), ['off', 4000]);
  assert.deepEqual(decided({ ...behindProxy, PORT: '8080' }), ['off', 8080]);
  assert.deepEqual(decided({ ...behindProxy, PORT: '443', TRUST_PROXY: '10.0.0.1' }), ['off', 443]);
  assert.deepEqual(decided({ ...alone, TRUST_PROXY: '10.0.0.1' }), ['off', 4000]);
  assert.deepEqual(decided({ ...alone, PORT: '4000' }), ['off', 4000]);
  assert.deepEqual(decided({ ...alone, TLS: 'off' }), ['off', 4000]);
});

test('[TLS-10] a server that was given only its name orders a certificate, and so does one on 443', () => {
  assert.deepEqual(decided(alone), ['acme', 443]);
  assert.deepEqual(decided({ ...behindProxy, PORT: '443' }), ['acme', 443]);
  assert.deepEqual(decided({ ...behindProxy, TLS: 'acme' }), ['acme', 443]);
  assert.deepEqual(decided({ ...behindProxy, TLS: 'acme', PORT: '8443' }), ['acme', 8443]);
  assert.deepEqual(decided({ ...behindProxy, TLS_CERT: 'a.pem', TLS_KEY: 'b.pem' }), ['files', 443]);
  for (const PUBLIC_URL of [
    'http://calls.parley.dev',
    'https://10.0.0.1',
    'https://calls.internal',
    'https://a.dev:8443',
  ])
    assert.deepEqual(decided({ ...alone, PUBLIC_URL }), ['off', 4000], PUBLIC_URL);
  assert.deepEqual(decided({ ...alone, NODE_ENV: 'development' }), ['off', 4000]);
});

test('[TLS-12] plain http is answered on 80 where a certificate is ordered on 443, and else only where it is said', () => {
  const plain = (variables: Variables) => read(variables).plainPort;
  assert.equal(plain(alone), 80);
  assert.equal(plain({ ...alone, HTTP_PORT: '0' }), null);
  assert.equal(plain({ ...behindProxy, TLS: 'acme', PORT: '8443' }), null);
  assert.equal(plain({ ...behindProxy, TLS: 'acme', PORT: '8443', HTTP_PORT: '8080' }), 8080);
  assert.equal(plain(behindProxy), null);
  assert.equal(plain({ ...behindProxy, TLS_CERT: 'a.pem', TLS_KEY: 'b.pem' }), null);
});

test('[TLS-10] what cannot be is told with its variable', () => {
  const problemsOf = (variables: Variables): readonly string[] => {
    try {
      readConfig({ ...behindProxy, ...variables });
      return [];
    } catch (error) {
      return error instanceof ConfigError ? error.problems : [];
    }
  };
  assert.deepEqual(problemsOf({ TLS_CERT: 'a.pem' }), ['TLS_CERT and TLS_KEY must be set together.']);
  assert.deepEqual(problemsOf({ TLS: 'acme', PUBLIC_URL: 'http://calls.parley.dev' }), [
    'PUBLIC_URL must be https when TLS is not off.',
  ]);
  assert.match(problemsOf({ TLS: 'acme', PUBLIC_URL: 'https://192.0.2.1' })[0] ?? '', /must have a host name/);
  assert.match(problemsOf({ TLS: 'acme', ACME_DIRECTORY_URL: 'http://ca.test' })[0] ?? '', /^ACME_DIRECTORY_URL/);
});

test('[TLS-11] doctor reads the files of the certificate, and asks a running service', async () => {
  const authority = await createAuthority();
  const folder = await mkdtemp(join(tmpdir(), 'parley-doctor-tls-'));
  const { key, cert } = await authority.issue('calls.test');
  const TLS_CERT = join(folder, 'cert.pem');
  const TLS_KEY = join(folder, 'key.pem');
  const env = { TLS_CERT, TLS_KEY, PUBLIC_URL: 'https://calls.test', ALLOW_PUBLIC_DEVELOPMENT: 'true' };
  const found = async (PORT: string): Promise<Finding | undefined> => {
    for await (const finding of examine({ ...env, PORT, DATA_DIR: folder, SFU_EMBEDDED: 'false' }))
      if (finding.check === 'tls') return finding;
    return undefined;
  };
  assert.match((await found('1'))?.message ?? '', /^TLS_CERT and TLS_KEY cannot be used \(ENOENT/);
  await writeFile(TLS_CERT, cert);
  await writeFile(TLS_KEY, key);
  const written = await found('1');
  assert.deepEqual([written?.status, written?.message.slice(0, 30)], ['ok', 'The certificate is valid until']);
  const service = await startService({ env });
  await eventually(async () =>
    assert.match((await found(String(service.config.port)))?.message ?? '', /^The running service has a valid/),
  );
  await service.stop();
  await rm(folder, { recursive: true, force: true });
  await authority.remove();
});
