import type { Clock } from '../../core/clock.ts';
import { iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { OpenConnections } from '../../core/grant.ts';
import type { Bus } from '../../core/ports.ts';
import type { Access } from './access.ts';
import { listTokensRevoked, markTokensRevoked } from './api-key-store.ts';
import { listSigningKeysRevoked } from './signing-key-store.ts';

export interface KeyTokenDeps {
  db: Db;
  clock: Clock;
  bus: Bus;
  access: Access;
  connections: OpenConnections;
  /** Revokes RTC tokens by who minted them, and ends their sessions. */
  revokeRtcTokens: (projectId: string, mintedBy: { keyIds: readonly string[] } | { memberId: string }) => Promise<void>;
}

const topic = 'projects/tokens-revoked';
/** Far enough back that no two looks leave a gap between them, and that no connection opened by an old answer is missed. */
const lookBackMs = 30_000;

/** Tokens that keys have minted or signed: void together, with what was opened by them, on every process. */
export function createKeyTokens({ db, clock, bus, access, connections, revokeRtcTokens }: KeyTokenDeps) {
  function cutOff(keyIds: readonly string[]): void {
    if (keyIds.length === 0) return;
    const isOver = ({ keyId }: { keyId: string | null }): boolean => keyId !== null && keyIds.includes(keyId);
    connections.cutOff(isOver, { code: 4410, reason: 'TOKEN_REVOKED' });
  }

  /** What the tokens of these keys have opened ends; that they are void is said by the keys' rows already. */
  async function end(projectId: string, keyIds: readonly string[]): Promise<void> {
    access.forgetProject(projectId);
    if (keyIds.length === 0) return;
    await revokeRtcTokens(projectId, { keyIds });
    bus.publish(topic, keyIds);
  }

  /** How a revocation arrives when the bus does not carry it. */
  async function cutOffRevoked(): Promise<void> {
    if (connections.count === 0) return;
    const since = iso(clock.now() - lookBackMs);
    cutOff([...(await listTokensRevoked(db, since)), ...(await listSigningKeysRevoked(db, since))]);
  }

  return {
    end,
    cutOffRevoked,

    /** True when there was anything to revoke. */
    async revoke(projectId: string, keyIds: readonly string[]): Promise<boolean> {
      const marked = await markTokensRevoked(db, projectId, keyIds, iso(clock.now()));
      await end(projectId, keyIds);
      return marked.length > 0;
    },

    /** The test calls of a member who may make none any more. */
    revokeOfMember: (projectId: string, memberId: string): Promise<void> => revokeRtcTokens(projectId, { memberId }),

    async start(): Promise<void> {
      await bus.subscribe(topic, (keyIds) => cutOff(keyIds as string[]));
    },
  };
}

export type KeyTokens = ReturnType<typeof createKeyTokens>;
