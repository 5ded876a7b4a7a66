import { randomBytes } from 'node:crypto';
import { createClient } from 'redis';
import { openTestDatabase, type TestDatabase } from '../../apps/server/testkit/kit/test-database.ts';
import { type Collector, startCollector } from '../../apps/server/testkit/peers/collector.ts';
import { startGithubPeer } from '../../apps/server/testkit/peers/github-peer.ts';
import { type OidcPeer, startOidcPeer } from '../../apps/server/testkit/peers/oidc-peer.ts';
import { startReceiver, type TestReceiver } from '../../apps/server/testkit/peers/receiver.ts';
import { startS3Server } from '../../apps/server/testkit/peers/s3-server.ts';
import { startSmtpServer, type TestSmtpServer } from '../../apps/server/testkit/peers/smtp-server.ts';

/** Embedded is development mode with nothing but the process; production is PostgreSQL, Redis and S3. */
export type Mode = 'embedded' | 'production';

export const newSecret = (label: string): string => `${label}-${randomBytes(20).toString('base64url')}`;

/** Secrets that the operator chooses. */
export const chosen = {
  secretKey: newSecret('secret-key'),
  sfuSecret: newSecret('sfu-secret'),
  formerSfuSecret: newSecret('former-sfu-secret'),
  turnSecret: newSecret('turn'),
  // With characters that a URL must escape.
  smtpPassword: `smtp/${newSecret('p#ss')}`,
  traceHeader: newSecret('trace-header'),
  googleSecret: newSecret('google'),
  githubSecret: newSecret('github'),
  s3Secret: newSecret('s3'),
  databasePassword: newSecret('database'),
  redisPassword: newSecret('redis'),
  playgroundSecret: newSecret('playground'),
};

/** What the service stands on or speaks to, all of it on this machine. */
export interface Outside {
  /** The settings that lead to it. */
  variables: Record<string, string>;
  smtp: TestSmtpServer;
  collector: Collector;
  receiver: TestReceiver;
  oidc: OidcPeer;
  /** Production only. */
  database: TestDatabase | null;
  redis: RedisWatch | null;
  /** Ends all that the service can live without, so that it complains. */
  vanish(): Promise<void>;
  close(): Promise<void>;
}

export async function startOutside(
  mode: Mode,
  { publicUrl, dye }: { publicUrl: string; dye: string },
): Promise<Outside> {
  const callback = `${publicUrl}/oauth/callback`;
  const mailUser = { user: 'mailer', password: chosen.smtpPassword };
  const [smtp, collector, receiver, oidc, github] = await Promise.all([
    startSmtpServer(mailUser),
    startCollector(),
    startReceiver(),
    startOidcPeer([callback]),
    startGithubPeer({ clientId: 'github', clientSecret: chosen.githubSecret }),
  ]);
  const stores = mode === 'production' ? await startStores(dye) : null;
  const vanishing = [smtp, collector, receiver, oidc, github, ...(stores ? [stores.s3] : [])];
  let isGone = false;
  const vanish = async () => {
    if (!isGone) await Promise.all(vanishing.map((peer) => peer.close()));
    isGone = true;
  };
  return {
    variables: {
      SMTP_URL: smtp.url.replace('smtp://', `smtp://${mailUser.user}:${encodeURIComponent(mailUser.password)}@`),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${chosen.traceHeader}`,
      OTEL_SERVICE_NAME: dye,
      OAUTH_GOOGLE_CLIENT_ID: 'google',
      OAUTH_GOOGLE_CLIENT_SECRET: chosen.googleSecret,
      OAUTH_GITHUB_CLIENT_ID: 'github',
      OAUTH_GITHUB_CLIENT_SECRET: chosen.githubSecret,
      // Production speaks to providers by https alone; there the secrets are set and lead nowhere.
      ...(mode === 'embedded' ? { OAUTH_GITHUB_URL: github.url, OAUTH_GITHUB_API_URL: github.url } : {}),
      OAUTH_OIDC_ISSUER: mode === 'embedded' ? oidc.issuer : 'https://127.0.0.1:1',
      OAUTH_OIDC_CLIENT_ID: oidc.clientId,
      OAUTH_OIDC_CLIENT_SECRET: oidc.clientSecret,
      ...stores?.variables,
    },
    smtp,
    collector,
    receiver,
    oidc,
    database: stores?.database ?? null,
    redis: stores?.redis ?? null,
    vanish,
    async close() {
      await vanish();
      await stores?.redis.close();
      await stores?.database.close();
    },
  };
}

async function startStores(dye: string) {
  const [database, redis, s3] = await Promise.all([
    openTestDatabase(),
    watchRedis(process.env['PARLEY_TEST_REDIS_URL'] ?? '', `${dye}:`),
    startS3Server({ secretAccessKey: chosen.s3Secret }),
  ]);
  // The tests' server accepts any password: it does no harm and may still leak.
  const databaseUrl = new URL(database.url ?? '');
  databaseUrl.password = chosen.databasePassword;
  const variables = {
    DATABASE_URL: databaseUrl.href,
    REDIS_URL: redis.url,
    REDIS_KEY_PREFIX: `${dye}:`,
    S3_ENDPOINT: s3.options.endpoint,
    S3_BUCKET: s3.options.bucket,
    S3_REGION: s3.options.region,
    S3_ACCESS_KEY_ID: s3.options.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.options.secretAccessKey,
    PLAYGROUND_API_KEY: `svk_dev_unknown.${chosen.playgroundSecret}`,
  };
  return { database, redis, s3, variables };
}

/** Sees every command under a prefix: keys that expired again, scripts' arguments and messages are all among them. */
interface RedisWatch {
  /** With a user and a password of its own. */
  url: string;
  commands: string[];
  close(): Promise<void>;
}

async function watchRedis(adminUrl: string, prefix: string): Promise<RedisWatch> {
  const user = prefix.replace(/\W/g, '');
  const open = async () => {
    const client = createClient({ url: adminUrl });
    client.on('error', () => {}); // connect() rejects with it
    await client.connect();
    return client;
  };
  const [admin, monitor] = await Promise.all([open(), open()]);
  await admin.aclSetUser(user, ['on', `>${chosen.redisPassword}`, 'allkeys', 'allchannels', 'allcommands']);
  const commands: string[] = [];
  await monitor.monitor((command) => {
    const text = command.toString();
    if (text.includes(prefix)) commands.push(text);
  });
  const url = new URL(adminUrl);
  Object.assign(url, { username: user, password: chosen.redisPassword });
  return {
    url: url.href,
    commands,
    async close() {
      monitor.destroy();
      await admin.aclDelUser(user);
      for await (const keys of admin.scanIterator({ MATCH: `${prefix}*`, COUNT: 1000 }))
        if (keys.length > 0) await admin.del(keys);
      admin.destroy();
    },
  };
}
