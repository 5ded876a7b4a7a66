import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError, readConfig, type Variables } from './config.ts';
import { settingRows } from './settings.ts';

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

test('[CFG-1] variables that make sense only together are set together or not at all', () => {
  assert.deepEqual(problemsOf({ OAUTH_OIDC_ISSUER: 'https://id.test', OAUTH_OIDC_CLIENT_ID: 'parley' }), [
    'OAUTH_OIDC_CLIENT_SECRET must be set together with OAUTH_OIDC_ISSUER, OAUTH_OIDC_CLIENT_ID.',
  ]);
  assert.equal(readConfig({ DATA_DIR: dataDir, S3_REGION: 'eu-1', OTEL_SERVICE_NAME: 'calls' }).s3, null);
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

test('[CFG-2] production needs its secrets and its address', () => {
  const problems = problemsOf({ NODE_ENV: 'production' });
  assert.deepEqual(problems.map((problem) => problem.split(' ')[0]).sort(), [
    'PUBLIC_URL',
    'SECRET_KEY',
    'SFU_REGISTRATION_SECRET',
  ]);
  const config = readConfig({
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://rtc.example.com/',
    SECRET_KEY: randomBytes(24).toString('base64'),
    SFU_REGISTRATION_SECRET: `${randomBytes(24).toString('base64')},${randomBytes(24).toString('base64')}`,
  });
  assert.deepEqual(
    [config.publicUrl, config.host, config.requireVerifiedEmail, config.sfuSecrets.length],
    ['https://rtc.example.com', '0.0.0.0', true, 2],
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
    [{ SECRET_KEY: ' ', SFU_REGISTRATION_SECRET: good() }, /SECRET_KEY must be set/],
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
