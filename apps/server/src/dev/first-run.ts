import { type Api, createApi, Svc } from '@parley/server';
import { randomBase62 } from '../core/ids.ts';
import { seedDemo } from './demo-data.ts';
import { type DevEnv, readDevEnv, writeDevEnv } from './dev-env.ts';

interface FirstRunOptions {
  url: string;
  publicUrl: string;
  dataDir: string;
  sfuSecret: string;
  textLengthMax: number;
  /** Makes sure of the account and signs in without spending a sign-in budget. Returns the access token. */
  signIn: (email: string, password: string) => Promise<string>;
  /** Hears the endpoint's secret before the first event is made for it. */
  onSecret: (secret: string) => void;
}

interface FirstRun {
  env: DevEnv;
  isNew: boolean;
  /** Fills the demo room; nobody has to wait for it. */
  fillDemo: () => Promise<void>;
}

export const devEmail = 'dev@localhost';

/**
 * Makes sure that there is a development account, a project, a key that works, an endpoint for its events and a demo
 * room; returns them with what is new. All of it through the public API: nothing is seeded that a developer could not
 * make the same way.
 */
export async function firstRun(options: FirstRunOptions): Promise<FirstRun> {
  const { url, publicUrl, dataDir, sfuSecret, textLengthMax } = options;
  const known = readDevEnv(dataDir);
  const isNew = !(await isKeyValid(url, known.SVC_API_KEY));
  const password = known.SVC_DEV_PASSWORD ?? randomBase62(20);
  const isMoved = known.SVC_URL !== publicUrl || !known.SVC_WEBHOOK_SECRET;
  const session =
    isNew || isMoved ? createApi({ baseUrl: url, credential: await options.signIn(devEmail, password) }) : null;
  const account = isNew && session ? await newProject(session) : known;
  const env: DevEnv = {
    SVC_URL: publicUrl,
    SVC_API_KEY: account.SVC_API_KEY ?? '',
    SVC_PROJECT_ID: account.SVC_PROJECT_ID ?? '',
    SVC_DEV_EMAIL: devEmail,
    SVC_DEV_PASSWORD: password,
    SVC_WEBHOOK_SECRET: (isNew ? '' : known.SVC_WEBHOOK_SECRET) ?? '',
    SFU_REGISTRATION_SECRET: sfuSecret,
  };
  writeDevEnv(dataDir, env);
  if (session) env.SVC_WEBHOOK_SECRET = await receiveEvents(session, env, `${publicUrl}/dev/events`);
  options.onSecret(env.SVC_WEBHOOK_SECRET);
  const fillDemo = await seedDemo(new Svc({ apiKey: env.SVC_API_KEY, baseUrl: url }), textLengthMax);
  writeDevEnv(dataDir, env);
  return { env, isNew, fillDemo };
}

async function newProject(session: Api): Promise<Pick<DevEnv, 'SVC_API_KEY' | 'SVC_PROJECT_ID'>> {
  const { id } = await session.call('createProject', { body: { name: 'Demo' } });
  const body = { name: 'Development', environment: 'DEVELOPMENT' } as const;
  const { key } = await session.call('createApiKey', { projectId: id, body });
  return { SVC_API_KEY: key, SVC_PROJECT_ID: id };
}

/** The endpoint at the built-in receiver; another port than last time is another address. Gives its secret. */
async function receiveEvents(session: Api, env: DevEnv, url: string): Promise<string> {
  const projectId = env.SVC_PROJECT_ID;
  const endpoints = await session.call('listWebhooks', { projectId });
  const mine = endpoints.find((endpoint) => endpoint.url.endsWith('/dev/events'));
  if (mine === undefined)
    return (await session.call('createWebhook', { projectId, body: { url, environment: 'DEVELOPMENT' } })).secret;
  await session.call('updateWebhook', { projectId, webhookId: mine.id, body: { url } });
  if (env.SVC_WEBHOOK_SECRET !== '') return env.SVC_WEBHOOK_SECRET;
  return (await session.call('rotateWebhookSecret', { projectId, webhookId: mine.id })).secret;
}

async function isKeyValid(url: string, key: string | undefined): Promise<boolean> {
  if (key === undefined) return false;
  return createApi({ baseUrl: url, credential: key })
    .call('getOwnProject')
    .then(
      () => true,
      () => false,
    );
}
