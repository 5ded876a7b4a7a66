import { type ChatAction, type ChatMemberRole, fail, type SanctionKind } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Queryable } from '../../../core/db.ts';
import { assertMember, type ChatCaller, type Moderator } from '../callers.ts';
import { everywhere, findSanctions } from './sanction-store.ts';
import { type ChatStanding, failFor } from './standing.ts';

/** Why somebody may not do something in a conversation. Looked up only when they may not. */
export interface Admission {
  /** As `assertMember`: a user whom a ban keeps out is told of it. */
  assertMember(
    from: Queryable,
    caller: Moderator,
    conversation: { publicId: string; role: ChatMemberRole | null },
    action: ChatAction,
  ): Promise<void>;
  /** Fails for a user who is no member. */
  failAsNonMember(from: Queryable, scope: ProjectScope, conversationId: string, userId: string): Promise<never>;
  /** Fails for one whom the store knows to be muted there. */
  failAsMuted(from: Queryable, scope: ProjectScope, conversationId: string, userId: string): Promise<never>;
  /** Fails for a user who is muted there. */
  assertNotMuted(
    from: Queryable,
    caller: Moderator,
    conversation: { publicId: string; silencedUntil: string | null },
  ): Promise<void>;
  /** Fails for one who is muted everywhere. Not inside a transaction: it may ask the database by itself. */
  assertMaySpeak(caller: Moderator): Promise<void>;
  /** Whether what this user sends anywhere is for themselves alone. Not inside a transaction, as above. */
  isShadowed(caller: ChatCaller): Promise<boolean>;
  /** Fails when a ban forbids to make this user a member. */
  assertMayJoin(db: Queryable, scope: ProjectScope, conversationId: string, userId: string): Promise<void>;
  isBanned(db: Queryable, scope: ProjectScope, conversationId: string, userId: string): Promise<boolean>;
}

interface AdmissionDeps {
  clock: Clock;
  chatStanding: ChatStanding;
}

export function createAdmission({ clock, chatStanding }: AdmissionDeps): Admission {
  const find = async (from: Queryable, scope: ProjectScope, place: string, userId: string, kind: SanctionKind) => {
    const sanctions = await findSanctions(from, scope, [everywhere, place], userId, iso(clock.now()));
    return sanctions.find((sanction) => sanction.kind === kind);
  };

  async function failAsNonMember(
    from: Queryable,
    scope: ProjectScope,
    conversationId: string,
    userId: string,
  ): Promise<never> {
    const ban = await find(from, scope, conversationId, userId, 'BAN');
    return ban ? failFor(ban) : fail('SVC_NOT_A_MEMBER');
  }

  async function failAsMuted(
    from: Queryable,
    scope: ProjectScope,
    conversationId: string,
    userId: string,
  ): Promise<never> {
    const mute = await find(from, scope, conversationId, userId, 'MUTE');
    // Lifted meanwhile: the next attempt will do.
    return mute ? failFor(mute) : fail('SVC_CHAT_MUTED', { until: iso(clock.now()), reason: null, conversationId });
  }

  return {
    failAsNonMember,
    failAsMuted,
    async assertMember(from, caller, { publicId, role }, action) {
      if (caller.kind === 'chatToken' && role === null) await failAsNonMember(from, caller, publicId, caller.userId);
      assertMember(caller, role, action);
    },
    async assertNotMuted(from, caller, { publicId, silencedUntil }) {
      const isSilenced = silencedUntil !== null && Date.parse(silencedUntil) > clock.now();
      if (isSilenced && caller.kind === 'chatToken') await failAsMuted(from, caller, publicId, caller.userId);
    },
    assertMaySpeak: chatStanding.assertMaySpeak,
    isShadowed: chatStanding.isShadowed,
    async assertMayJoin(from, scope, conversationId, userId) {
      const ban = await find(from, scope, conversationId, userId, 'BAN');
      if (ban) failFor(ban);
    },
    isBanned: async (from, scope, conversationId, userId) =>
      (await find(from, scope, conversationId, userId, 'BAN')) !== undefined,
  };
}
