import { tokenScopes } from '@parley/contract';
import { systemClock } from '../apps/server/src/core/clock.ts';
import { createKeyring } from '../apps/server/src/core/keyring.ts';
import { sql } from '../apps/server/src/core/sql.ts';
import { createTokens } from '../apps/server/src/core/tokens.ts';
import type { TestProject } from '../apps/server/testkit/kit/people.ts';
import { createPeople } from '../apps/server/testkit/kit/people.ts';
import { ownPort } from '../apps/server/testkit/kit/ports.ts';
import type { TestDatabase } from '../apps/server/testkit/kit/test-database.ts';
import { type Child, startChild } from './children.ts';

/** One server process with a project, conversations in it and users who belong to all of them. */
export interface Stage extends Server {
  project: TestProject;
  key: string;
  rooms: string[];
  users: string[];
}

interface StageOptions {
  dataDir: string;
  env?: Record<string, string>;
  conversations: number;
  users: number;
}

export const secretKey = 'a key that only this benchmark ever uses';
export const adminUrl = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';
export const redisUrl = process.env['PARLEY_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';

const publicUrl = 'http://localhost:4000';

export interface Server {
  child: Child;
  url: string;
  port: number;
}

/** One server process, ready to be asked. */
export async function startServer(env: Record<string, string>): Promise<Server> {
  const port = Number(env['PORT'] ?? (await ownPort()));
  const child = startChild('./chat-server.ts', {
    NODE_ENV: 'production',
    PORT: String(port),
    HOST: '127.0.0.1',
    PUBLIC_URL: publicUrl,
    SECRET_KEY: secretKey,
    SFU_REGISTRATION_SECRET: 'a secret that only this benchmark uses',
    SFU_EMBEDDED: 'false',
    AUTH_REQUIRE_VERIFIED_EMAIL: 'false',
    LOG_LEVEL: 'warn',
    CHAT_CONNECT_RATE_LIMIT: '100000',
    CHAT_SUBSCRIBE_RATE_LIMIT: '100000',
    SOCKETS_MAX_PER_SUBJECT: '100000',
    ...env,
  });
  const { url } = await child.ask<{ url: string }>({ order: 'start' });
  return { child, url, port };
}

export async function startStage({ dataDir, env = {}, conversations, users: count }: StageOptions): Promise<Stage> {
  const { child, url, port } = await startServer({ DATA_DIR: dataDir, ...env });
  const project = await createPeople(url).newProject();
  const users = Array.from({ length: count }, (_, at) => `user-${at}`);
  const rooms: string[] = [];
  for (let at = 0; at < conversations; at++) {
    const { id } = await project.api.call('createConversation', { body: { name: `room-${at}`, members: users } });
    rooms.push(id);
  }
  return { child, url, port, project, key: project.apiKey, rooms, users };
}

export const tokenOf = async ({ project }: Stage, userId: string): Promise<string> =>
  (await project.api.call('mintChatToken', { body: { userId } })).token;

/** Tokens of many users, signed here as the service would: a crowd is not what is measured. */
export function tokensOf({ project }: Stage, users: readonly string[]): string[] {
  const tokens = createTokens({ keyring: createKeyring(secretKey), clock: systemClock, issuer: publicUrl });
  const claims = { pid: project.id, env: 'DEVELOPMENT', scp: tokenScopes, conv: null };
  return users.map((sub) => tokens.sign('chat', { ...claims, sub, jti: `ctk_${sub}` }, 21_600).token);
}

/** More members of a conversation than one request may name, written by the database itself. */
export async function addMembers({ db }: TestDatabase, room: string, users: readonly string[]): Promise<void> {
  await db.execute(sql`
    insert into conversation_members (conversation_id, user_id, role, joined_at)
    select c.id, u, 'MEMBER', now() from conversations c, unnest(${users}::text[]) u where c.public_id = ${room}
    on conflict do nothing`);
  await db.execute(sql`update conversations set member_count = ${users.length} where public_id = ${room}`);
}
