import assert from 'node:assert/strict';
import type { Conversation } from '@parley/contract';
import { type Api, ApiError } from '@parley/server';
import { openSocket, type ServerFrame, type SocketClient } from '../clients/socket-client.ts';
import type { TestProject } from '../kit/people.ts';
import type { TestService } from '../kit/service.ts';

/** A user in chat: a token, a client of the API and, when asked for, a socket. */
export interface ChatUser {
  userId: string;
  token: string;
  api: Api;
  connect(): Promise<SocketClient>;
}

export interface ChatOf {
  project: TestProject;
  /** A conversation of its own with these members. */
  conversation(
    members?: readonly (string | { userId: string; role: 'OWNER' | 'ADMIN' | 'MODERATOR' | 'MEMBER' | 'GUEST' })[],
  ): Promise<Conversation>;
  user(userId: string, token?: { conversations?: string[]; scopes?: string[]; ttlSeconds?: number }): Promise<ChatUser>;
}

/** Chat in a project of its own. */
export async function createChatKit(service: TestService): Promise<ChatOf> {
  const project = await service.newProject();
  let made = 0;
  return {
    project,
    conversation: (members = ['alice', 'bob']) =>
      project.api.call('createConversation', { body: { name: `room-${++made}`, members: [...members] } }),
    async user(userId, options = {}) {
      const { token } = await project.api.call('mintChatToken', { body: { userId, ...options } });
      return {
        userId,
        token,
        api: service.as(token),
        connect: () => chatAs(service, token),
      };
    },
  };
}

/** A socket that has said hello. */
export async function chatAs({ url }: TestService, token: string): Promise<SocketClient> {
  const client = await openSocket(`${url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${token}`] });
  await client.take('hello');
  return client;
}

/** The error a call ends with; fails when it succeeds. */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ status: number; code: string; body: Record<string, unknown> }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status, code: error.code, body: { ...error.body } };
    throw error;
  }
  return assert.fail('the call succeeded');
}

export async function assertRefused(call: Promise<unknown>, status: number, code: string): Promise<void> {
  const refused = await refusal(call);
  assert.deepEqual([refused.status, refused.code], [status, code]);
}

/** Subscribes and gives what the ack says of the conversation. */
export async function subscribe(
  client: SocketClient,
  ref: string,
  extra: object = {},
): Promise<Record<string, unknown>> {
  const ack = await client.ask({ type: 'subscribe', conversations: [{ ref, ...extra }] });
  assert.equal(ack.type, 'ack', JSON.stringify(ack));
  const { conversations } = ack['data'] as { conversations: Record<string, unknown>[] };
  return conversations[0] ?? assert.fail('no answer for the conversation');
}

/** Numbers of the changes a client has received of a conversation, live or recovered. */
export function changesReceived(frames: readonly ServerFrame[], conversationId: string): number[] {
  return frames.flatMap((frame) => {
    if (frame['conversationId'] !== conversationId) return [];
    if (frame.type === 'recovered') return (frame['changes'] as { change: number }[]).map(({ change }) => change);
    return typeof frame['change'] === 'number' ? [frame['change']] : [];
  });
}
