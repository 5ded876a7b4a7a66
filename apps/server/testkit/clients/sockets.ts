import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clientFrames, fail, readLimits, type ServerFrameTable } from '@parley/contract';
import { Type } from 'typebox';
import { createMemoryCounters } from '../../src/adapters/counters/memory.ts';
import { createIds } from '../../src/core/ids.ts';
import { createLog } from '../../src/core/log.ts';
import { createRateLimiter } from '../../src/core/rate-limiter.ts';
import { type AnySocket, type Connection, type SocketSession, socket } from '../../src/core/socket.ts';
import { toErrorAnswer } from '../../src/http/errors.ts';
import { createIpOf, requestIdOf } from '../../src/http/request-info.ts';
import { createSockets, type Sockets } from '../../src/sockets/index.ts';
import { createFakeClock, type FakeClock } from '../kit/fake-clock.ts';
import { openSocket, type SocketClient } from './socket-client.ts';

/** The sockets alone, with no domain behind them. */
export interface TestSockets {
  url: string;
  clock: FakeClock;
  sockets: Sockets;
  /** The ends of connections that the domain was notified of. */
  closed: readonly { id: string; code: number }[];
  /** Names of the `slow` frames that are or were at work, and `good-slow` for that token's check. */
  started: readonly string[];
  /** The last of them is answered. */
  letSlowGo(): void;
  /** Of a new user. */
  newToken(): string;
  /** Opens the chat socket, as a new user by default. */
  chat(token?: string): Promise<SocketClient>;
  /** The server's end of a client that has not taken its `hello`. */
  connectionOf(client: SocketClient): Promise<Connection<SocketSession>>;
  stop(): Promise<void>;
}

export async function startSockets(
  env: Record<string, string> = {},
  faults: Readonly<Record<string, unknown>> = {},
): Promise<TestSockets> {
  const clock = createFakeClock();
  const { limits } = readLimits(env);
  const domain = createDomain(clock, faults);
  const sockets = createSockets({
    clock,
    log: createLog('silent'),
    limits,
    rateLimiter: createRateLimiter({ counters: createMemoryCounters(clock), limits }),
    ids: createIds(clock),
    random: () => 0.5,
    sockets: [
      domain.socketAt('/v1/chat/ws', 'svc.chat.v1'),
      domain.socketAt('/v1/rtc/signal', 'svc.rtc.v1', {
        attemptBudget: 'SIGNALING_MAX_CONNECTIONS_PER_WINDOW',
        frameBudget: 'SIGNALING_MAX_MESSAGES_PER_WINDOW',
        replyType: 'response',
        takesFirst: true,
        frameBytesMax: 8_192,
      }),
    ],
    isOriginAllowed: async (_projectId, origin) => origin !== 'https://evil.example',
    requestIdOf,
    ipOf: createIpOf(['127.0.0.1']),
    refuse: toErrorAnswer,
  });
  const server = createServer();
  server.on('upgrade', sockets.upgrade);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  sockets.start();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let people = 0;
  const newToken = (): string => `good-${++people}`;
  return {
    url,
    clock,
    sockets,
    closed: domain.closed,
    started: domain.started,
    letSlowGo: domain.letSlowGo,
    newToken,
    chat: (token = newToken()) => openSocket(`${url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${token}`] }),
    async connectionOf(client) {
      const { connectionId } = await client.take('hello');
      return domain.opened.find(({ id }) => id === connectionId) ?? assert.fail('not opened');
    },
    async stop() {
      await sockets.stop();
      server.closeAllConnections();
      server.close();
    },
  };
}

const frames = clientFrames({
  auth: { data: Type.Object({ token: Type.String() }), does: 'Says who this is.' },
  echo: {
    data: Type.Object({ text: Type.String({ maxLength: 100_000 }) }),
    replies: Type.Object({ text: Type.String() }),
    does: 'Says it again.',
  },
  slow: {
    data: Type.Object({ name: Type.String() }),
    replies: Type.Object({ name: Type.String() }),
    does: 'Answers when the test lets it.',
  },
  break: { data: Type.Object({ fault: Type.Optional(Type.String()) }), does: 'Throws the fault of that name.' },
  limited: { data: Type.Object({}), budget: 'CHAT_SEND_RATE_LIMIT', replies: Type.Object({}), does: 'Costs.' },
});

/** What a domain would define, at its smallest. */
function createDomain(clock: FakeClock, faults: Readonly<Record<string, unknown>>) {
  const opened: Connection<SocketSession>[] = [];
  const closed: { id: string; code: number }[] = [];
  const started: string[] = [];
  let letSlowGo = (): void => {};

  async function waitSlowly(name: string): Promise<void> {
    started.push(name);
    await new Promise<void>((resolve) => {
      letSlowGo = resolve;
    });
  }

  const socketAt = (path: string, subprotocol: string, extra: object = {}): AnySocket =>
    socket<SocketSession, typeof frames, ServerFrameTable>({
      path,
      subprotocol,
      frames,
      authFrame: 'auth',
      replyType: 'ack',
      frameBytesMax: 65_536,
      heartbeatTimeoutMs: 45_000,
      connectBudget: 'CHAT_CONNECT_RATE_LIMIT',
      async authenticate(token) {
        if (token === 'late') fail('SVC_TOKEN_EXPIRED');
        if (!token.startsWith('good')) fail('SVC_INVALID_TOKEN');
        if (token === 'good-slow') await waitSlowly(token);
        return {
          projectId: 'project',
          environment: 'DEVELOPMENT',
          userId: token,
          tokenId: token,
          keyId: null,
          issuedAt: clock.now(),
          subject: token,
          expiresAt: clock.now() + 3_600_000,
        };
      },
      opened(connection) {
        opened.push(connection);
        connection.send('hello', { connectionId: connection.id });
      },
      expiring: (connection) => connection.send('token.expiring', {}),
      draining: (connection, afterMs) => connection.send('reconnect', { reason: 'DRAINING', afterMs }),
      closed: ({ id }, code) => void closed.push({ id, code }),
      handlers: {
        auth: async () => undefined,
        echo: async (_connection, { text }) => ({ text }),
        async slow(_connection, { name }) {
          await waitSlowly(name);
          return { name };
        },
        break: async (_connection, { fault = '' }) => {
          throw faults[fault] ?? new Error('a secret detail');
        },
        limited: async () => ({}),
      },
      ...extra,
    });

  return { opened, closed, started, socketAt, letSlowGo: () => letSlowGo() };
}
