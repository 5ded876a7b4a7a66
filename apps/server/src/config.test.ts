import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Source } from '@parley/contract/settings';
import { ConfigError, readConfig, type Variables } from './config.ts';
import { listenAddress } from './core/addresses.ts';
import { settingRows, settings } from './settings.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'parley-config-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));

const problemsOf = (variables: Variables): readonly string[] => {
  try {
    readConfig({ DATA_DIR: dataDir, ...variables });
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
};

const sourceOf = (variables: Variables): Source => ({
  isProduction: variables['NODE_ENV'] === 'production',
  text: (name) => variables[name] ?? null,
  report: () => {},
});

test('[CFG-1] a malformed variable stops the start with a sentence that names it', () => {
  const bad: Variables = {
    PORT: '70000',
    NODE_ENV: 'prod',
    DATABASE_URL: 'mysql://x',
    REDIS_URL: 'localhost:6379',
    PUBLIC_URL: 'rtc.example.com',
    CHAT_MAX_TEXT_LENGTH: '-1',
    RTC_TOKEN_DEFAULT_TTL_SECONDS: '10',
    WEBHOOK_TIMEOUT_MS: '5s',
    USAGE_ENFORCE: 'yes',
    LOG_LEVEL: 'verbose',
    S3_ENDPOINT: 'http://localhost:9000',
    SECRET_KEY: 'short',
  };
  const problems = problemsOf(bad);
  for (const name of Object.keys(bad))
    assert.ok(
      problems.some((problem) => problem.includes(name)),
      `${name} is not named in:\n${problems.join('\n')}`,
    );
});

test('[CFG-1] a misspelt variable is refused with the nearest name', () => {
  assert.deepEqual(problemsOf({ CHAT_MAX_TEXT_LENGHT: '100' }), [
    'CHAT_MAX_TEXT_LENGHT is not a setting. Did you mean CHAT_MAX_TEXT_LENGTH?',
  ]);
  assert.deepEqual(problemsOf({ HTTP_PROXY: 'http://x', PATH: '/bin', RATE_LIMIT: '1' }), []);
});

test('[CFG-5] what Kubernetes injects for its services is no setting', () => {
  const injected: Variables = {
    CHAT_PORT: 'tcp://10.0.0.7:80',
    CHAT_SERVICE_HOST: '10.0.0.7',
    CHAT_SERVICE_PORT: '80',
    CHAT_SERVICE_PORT_HTTP: '80',
    CHAT_PORT_80_TCP: 'tcp://10.0.0.7:80',
    CHAT_PORT_80_TCP_PROTO: 'tcp',
    CHAT_PORT_80_TCP_PORT: '80',
    CHAT_PORT_80_TCP_ADDR: '10.0.0.7',
    SFU_CONTROL_SERVICE_HOST: '10.0.0.8',
    SFU_CONTROL_PORT: 'udp://[fd00::8]:4443',
    SFU_CONTROL_PORT_4443_UDP: 'udp://[fd00::8]:4443',
    SFU_UDP_PORT: 'tcp://10.0.0.9:80',
    METRICS_PORT: 'tcp://10.0.0.9:80',
  };
  assert.deepEqual(problemsOf(injected), []);
  const config = readConfig({ DATA_DIR: dataDir, ...injected });
  assert.deepEqual([config.sfuUdpPort, config.metricsPort], [4443, null]);
  assert.match(problemsOf({ CHAT_PORT: '80' }).join(), /CHAT_PORT is not a setting/);
  assert.match(problemsOf({ PORT: 'tcp://10.0.0.7' }).join(), /PORT must be a port/);
});

test('[CFG-1] variables that make sense only together are set together or not at all', () => {
  assert.deepEqual(problemsOf({ OAUTH_OIDC_ISSUER: 'https://id.test', OAUTH_OIDC_CLIENT_ID: 'parley' }), [
    'OAUTH_OIDC_CLIENT_SECRET must be set together with OAUTH_OIDC_ISSUER, OAUTH_OIDC_CLIENT_ID.',
  ]);
  assert.equal(readConfig({ DATA_DIR: dataDir, S3_REGION: 'eu-1', OTEL_SERVICE_NAME: 'calls' }).s3, null);
});

test('[RUN-47] a replica is of a database: DATABASE_READ_URL needs DATABASE_URL', () => {
  const replica = { DATABASE_READ_URL: 'postgres://replica/parley' };
  assert.deepEqual(problemsOf(replica), ['DATABASE_READ_URL needs DATABASE_URL.']);
  assert.deepEqual(problemsOf({ ...replica, DATABASE_URL: 'postgres://db/parley' }), []);
});

test('[CFG-1] every variable of the table is known, named once and described', () => {
  const names = settingRows.map(({ name }) => name);
  assert.ok(names.length > 50);
  assert.equal(new Set(names).size, names.length);
  for (const { name, takes, default: value, means } of settingRows)
    assert.ok(takes !== '' && value !== '' && means.endsWith('.'), name);
  const blank = Object.fromEntries(names.map((name) => [name, ' ']));
  assert.deepEqual(problemsOf({ ...blank, DATA_DIR: dataDir }), []);
});

test('[CFG-2] production needs its address; with DATABASE_URL, whose servers share them, also its secrets', () => {
  assert.deepEqual(problemsOf({ NODE_ENV: 'production' }), ['PUBLIC_URL must be set in production.']);
  const shared = { NODE_ENV: 'production', PUBLIC_URL: 'https://rtc.test', DATABASE_URL: 'postgres://db/parley' };
  assert.deepEqual(
    problemsOf(shared),
    ['SECRET_KEY', 'SFU_REGISTRATION_SECRET'].map(
      (name) =>
        `${name} must be set in production with DATABASE_URL, to the same on every server: make it once with "openssl rand -base64 48".`,
    ),
  );
  const config = readConfig({
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://rtc.example.com/',
    SECRET_KEY: randomBytes(24).toString('base64'),
    SFU_REGISTRATION_SECRET: `${randomBytes(24).toString('base64')},${randomBytes(24).toString('base64')}`,
  });
  assert.deepEqual(
    [config.publicUrl, config.host, config.requireVerifiedEmail, config.sfuSecrets.length],
    ['https://rtc.example.com', listenAddress('::'), true, 2],
  );
});

test('[CFG-2] production refuses secrets that can be guessed, and one secret for two things', () => {
  const good = () => randomBytes(36).toString('base64');
  const shared = good();
  const cases: [Record<string, string>, RegExp][] = [
    [{ SECRET_KEY: 'a'.repeat(64), SFU_REGISTRATION_SECRET: good() }, /SECRET_KEY can be guessed/],
    [
      { SECRET_KEY: good(), SFU_REGISTRATION_SECRET: `${good()},change-me-change-me-change-me-1234567` },
      /SFU_REG.*guessed/,
    ],
    [{ SECRET_KEY: 'this-is-an-example-key-0123456789-abcdef', SFU_REGISTRATION_SECRET: good() }, /SECRET_KEY can be/],
    [{ SECRET_KEY: shared, SFU_REGISTRATION_SECRET: `${good()},${shared}` }, /must differ/],
  ];
  for (const [secrets, expected] of cases) {
    const variables = { NODE_ENV: 'production', PUBLIC_URL: 'https://rtc.test', ...secrets };
    assert.match(problemsOf(variables).join(' '), expected);
    const here = { NODE_ENV: 'development', PUBLIC_URL: 'http://localhost:4000' };
    assert.deepEqual(problemsOf({ ...variables, ...here }), []);
  }
});

test('[CFG-2] development makes its secrets once and keeps them to itself', () => {
  const first = readConfig({ DATA_DIR: dataDir });
  const second = readConfig({ DATA_DIR: dataDir });
  assert.ok(Buffer.byteLength(first.secretKey) >= 32);
  assert.deepEqual([second.secretKey, second.sfuSecrets], [first.secretKey, first.sfuSecrets]);
  assert.notEqual(first.secretKey, first.sfuSecrets[0]);
  assert.equal(statSync(join(dataDir, 'secrets.json')).mode & 0o777, 0o600);
  assert.match(readFileSync(join(dataDir, 'secrets.json'), 'utf8'), /SECRET_KEY/);
});

describe('[CFG-4] secrets that production makes for itself', () => {
  const fresh = (): string => mkdtempSync(join(dataDir, 'production-'));
  const inProduction = (folder: string, more: Variables = {}) =>
    readConfig({ NODE_ENV: 'production', PUBLIC_URL: 'https://rtc.test', DATA_DIR: folder, ...more });
  const given = () => randomBytes(36).toString('base64');
  const refusal = (folder: string): string => {
    try {
      inProduction(folder);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.message;
    }
    return '';
  };

  test('are kept, readable by nobody else, and yield to variables', () => {
    const folder = join(fresh(), 'data');
    const first = inProduction(folder);
    assert.deepEqual([statSync(folder).mode & 0o777, statSync(join(folder, 'secrets.json')).mode & 0o777], [448, 384]);
    const second = inProduction(folder);
    assert.deepEqual([second.secretKey, second.sfuSecrets], [first.secretKey, first.sfuSecrets]);
    assert.ok(Buffer.byteLength(first.secretKey) >= 32 && first.secretKey !== first.sfuSecrets[0]);
    const [SECRET_KEY, SFU_REGISTRATION_SECRET] = [given(), given()];
    const won = inProduction(folder, { SECRET_KEY, SFU_REGISTRATION_SECRET });
    assert.deepEqual([won.secretKey, won.sfuSecrets], [SECRET_KEY, [SFU_REGISTRATION_SECRET]]);
    assert.deepEqual(readdirSync(folder), ['secrets.json']);
  });

  test('are only those that are not set, and none where all are', () => {
    const folder = fresh();
    inProduction(folder, { SECRET_KEY: given(), SFU_REGISTRATION_SECRET: given() });
    assert.deepEqual(readdirSync(folder), []);
    inProduction(folder, { SECRET_KEY: given() });
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'))), [
      'SFU_REGISTRATION_SECRET',
    ]);
  });

  test('are not made anew for a database that was written with another key', () => {
    const folder = fresh();
    mkdirSync(join(folder, 'db'));
    assert.match(refusal(folder), /^SECRET_KEY is not set, and .*db was written with one/);
    assert.deepEqual(readdirSync(folder), ['db']);
  });

  test('stop the start where others can read them or nobody can', () => {
    const folder = fresh();
    inProduction(folder);
    const path = join(folder, 'secrets.json');
    chmodSync(path, 0o644);
    assert.equal(refusal(folder), `${path} can be read by everybody on this machine: run chmod 600 ${path}.`);
    chmodSync(path, 0o600);
    for (const broken of ['', '{"SECRET_KEY": 5}', '[]']) {
      writeFileSync(path, broken);
      assert.match(refusal(folder), /secrets\.json holds no secrets: restore it from a backup/);
    }
  });

  test('are in another folder than those of development, unless DATA_DIR says otherwise', () => {
    assert.deepEqual(
      [{}, { NODE_ENV: 'production' }].map((mode) => settings.read(sourceOf(mode)).dataDir),
      ['.parley', '.parley-production'].map((name) => resolve(name)),
    );
  });
});

test('[CFG-3] development mode refuses to start where others could reach it, unless told so by name', () => {
  const strays: [Variables, string][] = [
    [{ PUBLIC_URL: 'https://rtc.example.com' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'http://192.168.1.5:4000' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'http://localhost.example.com' }, 'PUBLIC_URL'],
    [{ HOST: '0.0.0.0' }, 'HOST'],
    [{ HOST: '::' }, 'HOST'],
    [{ HOST: '192.168.1.5', NODE_ENV: 'test' }, 'HOST'],
  ];
  for (const [variables, name] of strays) {
    const [problem = '', ...rest] = problemsOf(variables);
    assert.deepEqual(rest, []);
    assert.match(problem, new RegExp(`^${name} .*set NODE_ENV=production, or ALLOW_PUBLIC_DEVELOPMENT=true`));
    assert.deepEqual(problemsOf({ ...variables, ALLOW_PUBLIC_DEVELOPMENT: 'true' }), []);
  }
  for (const PUBLIC_URL of ['http://localhost:1', 'https://localhost', 'http://127.0.0.9', 'http://[::1]:4000'])
    for (const HOST of ['localhost', '127.0.0.1', '::1']) assert.deepEqual(problemsOf({ PUBLIC_URL, HOST }), []);
});
