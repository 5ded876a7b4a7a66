import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createApi } from '@parley/server';

/** One publisher, one who watches, and two who write to each other: the arguments of `parley`. */
export const smokeArguments = 'loadtest --json --publishers 1 --subscribers 1 --chat-senders 2 --seconds 2';

interface Row {
  name: string;
  count: number;
  p50: number | null;
}

/** What `parley` printed: the call and the messages must have gone through. Gives a line to read. */
export function readSmoke(output: string): string {
  const result = JSON.parse(output.slice(output.lastIndexOf('{"plan"'))) as { rows: Row[]; failures: object };
  assert.deepEqual(result.failures, {});
  for (const { name, count } of result.rows) assert.ok(count > 0, `no ${name} got through`);
  return result.rows.map(({ name, count, p50 }) => `${name}: ${count}, p50 ${p50?.toFixed(1)} ms`).join('; ');
}

const cli = join(import.meta.dirname, '../../../packages/cli/src/main.ts');

/** The call and the messages from here, by the service's public address; `ca` is a file with its authority. */
export async function smoke(url: string, apiKey: string, ca?: string): Promise<string> {
  const env = { PATH: process.env['PATH'], SVC_URL: url, SVC_API_KEY: apiKey, ...(ca && { NODE_EXTRA_CA_CERTS: ca }) };
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...smokeArguments.split(' ')], { env });
  return readSmoke(stdout);
}

/** A key of a production that has no account yet: `link` is the one it printed. */
export async function firstApiKey(baseUrl: string, link: string): Promise<string> {
  const token = new URL(link).searchParams.get('token') ?? '';
  const owner = { token, email: 'owner@example.com', password: 'correct horse battery' };
  const { accessToken } = await createApi({ baseUrl }).call('createFirstAccount', { body: owner });
  const api = createApi({ baseUrl, credential: accessToken });
  const { id: projectId } = await api.call('createProject', { body: { name: 'Smoke' } });
  const { key } = await api.call('createApiKey', { projectId, body: { name: 'smoke', environment: 'DEVELOPMENT' } });
  return key ?? '';
}
