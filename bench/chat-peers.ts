/** Child process: what the chat benchmarks are held against, each on a port of its own. */

import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { allRoutes, type Message, readLimits } from '@parley/contract';
import Fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { createMemoryBus } from '../apps/server/src/adapters/bus/memory.ts';
import { createMemoryCounters } from '../apps/server/src/adapters/counters/memory.ts';
import type { ApiKeyCaller } from '../apps/server/src/core/caller.ts';
import { createChanges } from '../apps/server/src/core/changes.ts';
import { systemClock } from '../apps/server/src/core/clock.ts';
import type { Db } from '../apps/server/src/core/db.ts';
import { RawJson } from '../apps/server/src/core/handlers.ts';
import { createKeyring } from '../apps/server/src/core/keyring.ts';
import { createLog } from '../apps/server/src/core/log.ts';
import { createMetrics } from '../apps/server/src/core/metrics.ts';
import { createRateLimiter } from '../apps/server/src/core/rate-limiter.ts';
import type { Sql } from '../apps/server/src/core/sql.ts';
import { createAccess } from '../apps/server/src/domains/projects/access.ts';
import type { KeyRecord } from '../apps/server/src/domains/projects/api-key-store.ts';
import { createIdentify } from '../apps/server/src/http/credentials.ts';
import { mountRoutes, type PipelineDeps } from '../apps/server/src/http/pipeline.ts';
import { createSpend } from '../apps/server/src/http/rate-budget.ts';
import { createRequestLog } from '../apps/server/src/http/request-log.ts';
import { createHttpServer } from '../apps/server/src/http/server.ts';

type PeerOrder =
  | { databaseUrl: string; keys: string[] }
  | { databaseUrl: string; conversation: string; columns: keyof typeof rawColumns; ms: number; callers: number };
export type PeerPorts = Record<'insert' | 'prepared' | 'authInsert' | 'noDatabase' | 'unchecked', number>;

const listen = async (app: FastifyInstance): Promise<number> => {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
};

interface Draft {
  text: string;
  senderId: string;
  clientMessageId?: string;
}

/** The least a message can cost: one table, one insert, the row as the answer. */
const insert = `insert into bare_messages (id, conversation_id, sender_id, text, client_message_id, created_at)
         values ($1, $2, $3, $4, $5, $6)
         returning id, conversation_id, sender_id, text, client_message_id, created_at`;
const bareTables = `
  create table if not exists bare_messages (id uuid primary key, conversation_id text not null, sender_id text,
    text text, client_message_id text, created_at timestamptz not null);
  create index if not exists bare_by_time on bare_messages (conversation_id, created_at);
  create table if not exists bare_keys (hash bytea primary key, project_id text not null);`;

const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();

interface BareOptions {
  /** With a name the statement is prepared once a connection; `pg` does not do that by itself. */
  name?: string;
  isAllowed?: (authorization: string) => Promise<boolean>;
}

function bareApp(pool: pg.Pool, { name, isAllowed }: BareOptions = {}): FastifyInstance {
  const app = Fastify();
  const body = {
    type: 'object',
    required: ['text', 'senderId'],
    properties: { text: { type: 'string' }, senderId: { type: 'string' }, clientMessageId: { type: 'string' } },
  };
  app.post<{ Params: { room: string }; Body: Draft }>(
    '/v1/chat/conversations/:room/messages',
    { schema: { body } },
    async (request, reply) => {
      if (isAllowed && !(await isAllowed(request.headers.authorization ?? ''))) return reply.code(401).send({});
      const { text, senderId, clientMessageId = null } = request.body;
      const values = [randomUUID(), request.params.room, senderId, text, clientMessageId, new Date()];
      const { rows } = await pool.query({ ...(name ? { name } : {}), text: insert, values });
      return reply.code(201).send(rows[0]);
    },
  );
  return app;
}

/** A key is looked up by its hash, as anybody would who keeps no cache. */
const keyCheck = (pool: pg.Pool) => async (authorization: string) => {
  const hash = hashOf(authorization.slice('Bearer '.length));
  const { rows } = await pool.query<{ hash: Buffer }>('select hash from bare_keys where hash = $1', [hash]);
  return rows[0] !== undefined && timingSafeEqual(rows[0].hash, hash);
};

const caller: ApiKeyCaller = {
  kind: 'apiKey',
  id: 'k',
  publicId: 'svk_x',
  projectId: 'p',
  environment: 'DEVELOPMENT',
  scopes: null,
};

/** What the key store would answer; the service's own check of a key goes on from there. */
function memoryOf(keys: readonly string[]): Db {
  const records = keys.map((key): KeyRecord => {
    const [, publicId = '', secret = ''] = /^svk_dev_(\w+)\.(\w+)$/.exec(key) ?? [];
    return {
      ...caller,
      scopes: null,
      publicId,
      secretHash: hashOf(secret),
      isRevoked: false,
      areTokensRevoked: false,
      isProjectArchived: false,
      isCreatorGone: false,
      expiresAt: null,
      allowedNetworks: null,
    };
  });
  const query = async ({ values }: Sql) => records.filter(({ publicId }) => publicId === values[0]);
  return { query, execute: async () => 0 } as unknown as Db;
}

/** As if every key were right. */
const anybody: PipelineDeps['identify'] = async () => caller;

/** Our own route with its pipeline, key check and validation, in front of a handler that makes the record up. */
function withoutDatabase(keys: readonly string[] | null): FastifyInstance {
  const log = createLog('silent');
  const table = { sendMessage: allRoutes.sendMessage };
  const app = createHttpServer({ table, log, metrics: createMetrics(), trustProxy: [], isDraining: () => false });
  const bus = createMemoryBus({ onError: () => undefined });
  const access = createAccess({ db: memoryOf(keys ?? []), clock: systemClock, bus, log, keyring: createKeyring('') });
  const authenticators = { apiKey: access.authenticateKey } as never;
  const deps: PipelineDeps = {
    identify: keys === null ? anybody : createIdentify({ authenticators, tokens: null as never, sfuSecrets: [] }),
    spend: createSpend(
      createRateLimiter({ counters: createMemoryCounters(systemClock), limits: readLimits({}).limits }),
    ),
    spendUserBudget: async () => undefined,
    once: (_scope, work) => work({ seed: '', isRetry: false }),
    bodyBytesMax: 262_144,
    streams: new Set(),
    publicUrl: 'http://localhost',
    roleIn: async () => null,
    proofs: {
      assertProven: async () => undefined,
      isAdmitted: async () => true,
      assertAdmitted: async () => undefined,
    },
    originPolicy: async () => ({ origins: [], allowLocalhost: true }) as never,
    recordAudit: async () => undefined,
    requestLog: createRequestLog(() => undefined),
    noteKeyUse: () => undefined,
    changes: createChanges({ bus }),
    checkAnswers: false,
  };
  let seq = 0;
  const sendMessage = async ({ params, body }: { params: { room: string }; body: Draft }) => {
    const at = new Date().toISOString();
    const id = `msg_${randomUUID()}`;
    const message: Message = {
      id,
      publicId: id,
      conversationId: params.room,
      seq: ++seq,
      change: seq,
      type: 'text',
      text: body.text,
      senderId: body.senderId,
      senderRole: null,
      replyTo: null,
      threadRootId: null,
      replyCount: 0,
      lastReplyAt: null,
      clientMessageId: body.clientMessageId ?? null,
      attachmentId: null,
      attachment: null,
      metadata: {},
      reactions: [],
      edited: false,
      editedAt: null,
      deleted: false,
      deletedAt: null,
      deletedBy: null,
      clientSentAt: null,
      createdAt: at,
      updatedAt: at,
    };
    return new RawJson(JSON.stringify(message));
  };
  mountRoutes(app, table, { sendMessage }, deps);
  return app;
}

/** What a page needs: the columns of which a client could make its messages, or the text that is stored beside them. */
const rawColumns = {
  fields: `position, seq, change, id, type, text, sender_id, sender_role, reply_to, thread_root_id, reply_count,
    last_reply_at, client_message_id, attachment_id, metadata, reaction_count, client_sent_at, created_at, edited_at,
    deleted_at, deleted_by`,
  record: 'record',
};

/** Pages a second of the newest 50 messages by a plain query, as rows, with nothing around it. */
async function rawPages({ databaseUrl, conversation, columns, ms, callers }: Extract<PeerOrder, { columns: string }>) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  const started = performance.now();
  let pages = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() - started < ms) {
      await pool.query({
        name: 'history',
        text: `select ${rawColumns[columns]} from messages
               where conversation_id = $1 and deleted_at is null order by position desc limit 50`,
        values: [conversation],
      });
      pages++;
    }
  };
  await Promise.all(Array.from({ length: callers }, loop));
  const perSecond = (pages / (performance.now() - started)) * 1000;
  await pool.end();
  return { perSecond };
}

async function startPeers({ databaseUrl, keys }: Extract<PeerOrder, { keys: string[] }>): Promise<PeerPorts> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  await pool.query(bareTables);
  for (const key of keys) await pool.query('insert into bare_keys values ($1, $2)', [hashOf(key), 'p']);
  return {
    insert: await listen(bareApp(pool)),
    prepared: await listen(bareApp(pool, { name: 'insert' })),
    authInsert: await listen(bareApp(pool, { isAllowed: keyCheck(pool) })),
    noDatabase: await listen(withoutDatabase(keys)),
    unchecked: await listen(withoutDatabase(null)),
  };
}

process.on('message', (order: PeerOrder) => {
  const answer = 'keys' in order ? startPeers(order) : rawPages(order);
  answer.then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
