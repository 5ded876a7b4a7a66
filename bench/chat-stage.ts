import type { TestProject } from '../apps/server/testkit/people.ts';
import { createPeople } from '../apps/server/testkit/people.ts';
import { freePort } from '../apps/server/testkit/ports.ts';
import { type Child, startChild } from './children.ts';

/** One server process with a project, conversations in it and users who belong to all of them. */
export interface Stage {
  child: Child;
  url: string;
  port: number;
  project: TestProject;
  key: string;
  rooms: string[];
  users: string[];
}

export interface StageOptions {
  dataDir: string;
  env?: Record<string, string>;
  conversations: number;
  users: number;
}

export const secretKey = 'a key that only this benchmark ever uses';
export const adminUrl = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';
export const redisUrl = process.env['PARLEY_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';

export async function startStage({ dataDir, env = {}, conversations, users: count }: StageOptions): Promise<Stage> {
  const child = startChild('./chat-server.ts', {
    NODE_ENV: 'production',
    PORT: String(await freePort()),
    HOST: '127.0.0.1',
    PUBLIC_URL: 'http://localhost:4000',
    SECRET_KEY: secretKey,
    SFU_REGISTRATION_SECRET: 'a secret that only this benchmark uses',
    SFU_EMBEDDED: 'false',
    AUTH_REQUIRE_VERIFIED_EMAIL: 'false',
    LOG_LEVEL: 'warn',
    CHAT_CONNECT_RATE_LIMIT: '100000',
    CHAT_SUBSCRIBE_RATE_LIMIT: '100000',
    DATA_DIR: dataDir,
    ...env,
  });
  const { url } = await child.ask<{ url: string }>({ order: 'start' });
  const project = await createPeople(url).newProject();
  const users = Array.from({ length: count }, (_, at) => `user-${at}`);
  const rooms: string[] = [];
  for (let at = 0; at < conversations; at++) {
    const { id } = await project.api.call('createConversation', { body: { name: `room-${at}`, members: users } });
    rooms.push(id);
  }
  return { child, url, port: Number(new URL(url).port), project, key: project.apiKey, rooms, users };
}

export const tokenOf = async ({ project }: Stage, userId: string): Promise<string> =>
  (await project.api.call('mintChatToken', { body: { userId } })).token;
