import { createCache } from '../../core/cache.ts';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Queryable } from '../../core/db.ts';
import { deleteInBatches, type Turn } from '../../core/delete-in-batches.ts';
import type { OpenConnections } from '../../core/grant.ts';
import type { Bus } from '../../core/ports.ts';
import {
  deleteRevokedTokens,
  hasRevokedTokens,
  insertRevokedToken,
  isTokenRevoked,
  listTokensRevokedSince,
  type RevokedToken,
} from './revoked-token-store.ts';

interface RevokedTokenDeps {
  db: Db;
  clock: Clock;
  bus: Bus;
  connections: OpenConnections;
}

const topic = 'end-users/token-revoked';
const lookBackMs = 30_000;
/** Longer than any token that has no row of its own. */
const keptMs = 24 * 60 * 60_000;

const scopeKey = ({ projectId, environment }: ProjectScope): string => `${projectId}/${environment}`;

const tokenKey = (token: RevokedToken): string => `${scopeKey(token)}/${token.tokenId}`;

/** Tokens without a row that were revoked one by one: chat tokens, and what a backend signed and nobody has used yet. */
export function createRevokedTokens({ db, clock, bus, connections }: RevokedTokenDeps) {
  const options = { clock, ttlMs: 1_000, sizeMax: 10_000 };
  const scopes = createCache<boolean>(options);
  const tokens = createCache<boolean>(options);

  /** Most projects revoke no single token: they are asked for once a second, and not for each of their tokens. */
  async function isRevoked(token: RevokedToken): Promise<boolean> {
    if (!(await scopes.get(scopeKey(token), () => hasRevokedTokens(db, token)))) return false;
    return tokens.get(tokenKey(token), () => isTokenRevoked(db, token, token.tokenId));
  }

  function heard(token: RevokedToken): void {
    scopes.drop(scopeKey(token));
    tokens.drop(tokenKey(token));
    cutOff([token]);
  }

  function cutOff(revoked: readonly RevokedToken[]): void {
    if (revoked.length === 0) return;
    const over = new Set(revoked.map(tokenKey));
    connections.cutOff((grant) => over.has(tokenKey(grant)), { code: 4410, reason: 'TOKEN_REVOKED' });
  }

  /** Inside a larger change, after which it is to be announced; gives when it was revoked first. */
  const note = (tx: Queryable, scope: ProjectScope, tokenId: string): Promise<string> =>
    insertRevokedToken(tx, scope, tokenId, iso(clock.now()));

  const announce = ({ projectId, environment }: ProjectScope, tokenId: string): void =>
    bus.publish(topic, { projectId, environment, tokenId });

  return {
    isRevoked,
    isRevokedIn: (tx: Queryable, token: RevokedToken): Promise<boolean> => isTokenRevoked(tx, token, token.tokenId),
    note,
    announce,

    async revoke(scope: ProjectScope, tokenId: string): Promise<string> {
      const at = await note(db, scope, tokenId);
      announce(scope, tokenId);
      return at;
    },

    /** How it arrives when the bus does not carry it. */
    async cutOffRevoked(): Promise<void> {
      if (connections.count === 0) return;
      cutOff(await listTokensRevokedSince(db, iso(clock.now() - lookBackMs)));
    },
    forget(turn: Turn): Promise<number> {
      const before = iso(clock.now() - keptMs);
      return deleteInBatches({ turn }, (limit) => deleteRevokedTokens(db, before, limit));
    },
    start: (): Promise<unknown> => bus.subscribe(topic, (token) => heard(token as RevokedToken)),
  };
}

export type RevokedTokens = ReturnType<typeof createRevokedTokens>;
