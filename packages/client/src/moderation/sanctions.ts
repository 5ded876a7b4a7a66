import type { ChatReport, ResolveReport, Sanction, Message as StoredMessage } from '@parley/contract/types.gen';
import type { Chat } from '../chat/index.ts';
import { createPart } from '../chat/part.ts';
import { type Page, type PageOptions, pathOf } from '../http.ts';

export interface SanctionOptions {
  /** Without it, until it is lifted. */
  until?: Date;
  /** The user is told, except of a shadow. At most 256 characters. */
  reason?: string;
}

export interface ReportsOptions extends PageOptions {
  /** The open ones without it. */
  status?: ChatReport['status'];
  /** Its id: only of this conversation. */
  conversation?: string;
}

export interface Resolution extends SanctionOptions {
  /** A mute, ban or shadow is one of the conversation. */
  action: ResolveReport['action'];
}

type Impose = (conversationId: string, userId: string, options?: SanctionOptions) => Promise<Sanction>;
type Lift = (conversationId: string, userId: string) => Promise<void>;
type List<T> = (conversationId: string, options?: PageOptions) => Promise<Page<T>>;

/** What moderators of a conversation do to those below them. Lists are for moderators too, latest first. */
export interface Moderation {
  /** Removes a user and keeps them out. */
  ban: Impose;
  unban: Lift;
  bans: List<Sanction>;
  /** Lets a member read and no longer send, edit, react or upload. */
  mute: Impose;
  unmute: Lift;
  mutes: List<Sanction>;
  /** Shows what a member sends to themselves alone, without telling them. */
  shadow: Impose;
  /** What was sent before stays where it is. */
  unshadow: Lift;
  shadows: List<Sanction>;
  /** What was sent in the shadow, without what was deleted. */
  shadowMessages: List<StoredMessage>;
  /** Of all conversations that the user moderates, about messages of those below them, latest first. */
  reports(options?: ReportsOptions): Promise<Page<ChatReport>>;
  /** Once; also when nothing is to be done. */
  resolveReport(reportId: string, resolution: Resolution): Promise<ChatReport>;
}

export function createModeration(chat: Chat): Moderation {
  const { http } = createPart(chat, () => {});
  const list =
    <T>(kind: string): List<T> =>
    (conversationId, options) =>
      http.page(`${pathOf(conversationId)}/${kind}`, options);
  const call = (method: string, kind: string, [conversationId, userId, body]: Parameters<Impose>): Promise<unknown> =>
    http.call(method, `${pathOf(conversationId)}/${kind}/${encodeURIComponent(userId)}`, body && { body });
  const impose =
    (kind: string): Impose =>
    async (...args) =>
      (await call('PUT', kind, args)) as Sanction;
  const lift =
    (kind: string): Lift =>
    async (...args) =>
      void (await call('DELETE', kind, args));
  return {
    ban: impose('bans'),
    unban: lift('bans'),
    bans: list('bans'),
    mute: impose('mutes'),
    unmute: lift('mutes'),
    mutes: list('mutes'),
    shadow: impose('shadows'),
    unshadow: lift('shadows'),
    shadows: list('shadows'),
    shadowMessages: list('shadow-messages'),
    reports: (options) => http.page('/v1/chat/reports', options),
    resolveReport: async (reportId, body) =>
      (await http.call('POST', `/v1/chat/reports/${encodeURIComponent(reportId)}/resolve`, { body })) as ChatReport,
  };
}
