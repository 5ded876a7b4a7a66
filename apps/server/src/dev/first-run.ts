import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBase62 } from '../core/ids.ts';

/** What a newcomer's shell needs to call the service: `. .parley/dev.env`. */
export interface DevEnv {
  SVC_URL: string;
  SVC_API_KEY: string;
  SVC_PROJECT_ID: string;
  SVC_DEV_EMAIL: string;
  SVC_DEV_PASSWORD: string;
  SFU_REGISTRATION_SECRET: string;
}

const names = [
  'SVC_URL',
  'SVC_API_KEY',
  'SVC_PROJECT_ID',
  'SVC_DEV_EMAIL',
  'SVC_DEV_PASSWORD',
  'SFU_REGISTRATION_SECRET',
] as const;

const pathIn = (dataDir: string): string => join(dataDir, 'dev.env');

export function readDevEnv(dataDir: string): DevEnv | null {
  if (!existsSync(pathIn(dataDir))) return null;
  const lines = readFileSync(pathIn(dataDir), 'utf8').split('\n');
  const pairs = lines.flatMap((line) => {
    const match = /^export ([A-Z_]+)='([^']*)'$/.exec(line);
    return match ? [[match[1], match[2]] as const] : [];
  });
  const values = Object.fromEntries(pairs) as Partial<DevEnv>;
  return names.every((name) => values[name]) ? (values as DevEnv) : null;
}

function writeDevEnv(dataDir: string, values: DevEnv): void {
  const lines = names.map((name) => `export ${name}='${values[name]}'`);
  writeFileSync(
    pathIn(dataDir),
    `# Made by the first start in development mode. Not for production.\n${lines.join('\n')}\n`,
    { mode: 0o600 },
  );
  chmodSync(pathIn(dataDir), 0o600);
}

/** The public API as the first run uses it: nothing is seeded that a developer could not make the same way. */
interface Api {
  call<T>(method: string, path: string, body?: unknown, bearer?: string): Promise<T>;
}

function apiAt(url: string): Api {
  return {
    async call<T>(method: string, path: string, body?: unknown, bearer?: string) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(bearer ? { authorization: `Bearer ${bearer}` } : {}) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    },
  };
}

/** Makes sure that there is a development account, a project and a key that works; returns them with what is new. */
export async function firstRun(options: {
  url: string;
  publicUrl: string;
  dataDir: string;
  sfuSecret: string;
  /** Makes sure of the account and signs in; spends nobody's sign-in budget. Gives the access token. */
  signIn: (email: string, password: string) => Promise<string>;
}): Promise<{ env: DevEnv; isNew: boolean }> {
  const api = apiAt(options.url);
  const known = readDevEnv(options.dataDir);
  if (known && (await isKeyValid(api, known.SVC_API_KEY))) {
    const env = { ...known, SVC_URL: options.publicUrl, SFU_REGISTRATION_SECRET: options.sfuSecret };
    writeDevEnv(options.dataDir, env);
    return { env, isNew: false };
  }
  const email = 'dev@localhost';
  const password = known?.SVC_DEV_PASSWORD ?? randomBase62(20);
  const session = await options.signIn(email, password);
  const project = await api.call<{ id: string }>('POST', '/v1/projects', { name: 'Demo' }, session);
  const { key } = await api.call<{ key: string }>(
    'POST',
    `/v1/projects/${project.id}/api-keys`,
    { name: 'Development', environment: 'DEVELOPMENT' },
    session,
  );
  const env: DevEnv = {
    SVC_URL: options.publicUrl,
    SVC_API_KEY: key,
    SVC_PROJECT_ID: project.id,
    SVC_DEV_EMAIL: email,
    SVC_DEV_PASSWORD: password,
    SFU_REGISTRATION_SECRET: options.sfuSecret,
  };
  writeDevEnv(options.dataDir, env);
  return { env, isNew: true };
}

async function isKeyValid(api: Api, key: string): Promise<boolean> {
  return api.call('GET', '/v1/project', undefined, key).then(
    () => true,
    () => false,
  );
}
