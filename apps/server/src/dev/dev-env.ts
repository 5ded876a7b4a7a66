import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a newcomer's shell needs to call the service: `. .parley/dev.env`. */
const names = [
  'SVC_URL',
  'SVC_API_KEY',
  'SVC_PROJECT_ID',
  'SVC_DEV_EMAIL',
  'SVC_DEV_PASSWORD',
  'SVC_WEBHOOK_SECRET',
  'SFU_REGISTRATION_SECRET',
] as const;
export type DevEnv = Record<(typeof names)[number], string>;

const pathIn = (dataDir: string): string => join(dataDir, 'dev.env');

export function readDevEnv(dataDir: string): Partial<DevEnv> {
  if (!existsSync(pathIn(dataDir))) return {};
  const lines = readFileSync(pathIn(dataDir), 'utf8').matchAll(/^export ([A-Z_]+)='([^']*)'$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

export function writeDevEnv(dataDir: string, values: DevEnv): void {
  const lines = names.map((name) => `export ${name}='${values[name]}'`);
  // With the database and the secrets elsewhere nothing else has made it.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(
    pathIn(dataDir),
    `# Made by the first start in development mode. Not for production.\n${lines.join('\n')}\n`,
    { mode: 0o600 },
  );
  chmodSync(pathIn(dataDir), 0o600);
}
