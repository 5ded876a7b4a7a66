import { type ChatAction, type ChatMemberRole, type ChatScope, fail, identityPattern, roleCan } from '@parley/contract';
import type { ApiKeyCaller, ChatTokenCaller, ProjectScope } from '../../core/caller.ts';
import { refuse } from '../../core/validation.ts';

/** Who may use chat: a developer's backend, or one end user. */
export type ChatCaller = ApiKeyCaller | ChatTokenCaller;

/** Somebody signed in to the dashboard, as chat knows them: who it was is in the audit log. */
export interface DashboardCaller extends ProjectScope {
  kind: 'dashboard';
}

/** Who may moderate. What reads or writes content takes a `ChatCaller`: the dashboard never gets to see any. */
export type Moderator = ChatCaller | DashboardCaller;

/** Who speaks for the application, and not for one of its users. */
export type Backend = ApiKeyCaller | DashboardCaller;

export const asDashboard = ({ projectId, environment }: ProjectScope): DashboardCaller => ({
  kind: 'dashboard',
  projectId,
  environment,
});

/** The user behind a chat token; null for an API key and the dashboard, which act for the application. */
export const userOf = (caller: Moderator): string | null => (caller.kind === 'chatToken' ? caller.userId : null);

/** The API key, or the one that the token was minted or signed with. */
export const keyOf = (caller: ChatCaller): string | null => (caller.kind === 'apiKey' ? caller.publicId : caller.keyId);

/** A token needs the scope; an API key has every one. */
export function assertScope(caller: Moderator, scope: ChatScope): void {
  if (caller.kind === 'chatToken' && !caller.scopes.includes(scope)) fail('SVC_SCOPE_MISSING', { scope });
}

export const isListed = (caller: Moderator, conversationId: string): boolean =>
  caller.kind !== 'chatToken' || (caller.conversations?.includes(conversationId) ?? true);

/** What a token's list of conversations leaves out does not exist for it. */
export function assertListed(caller: Moderator, conversationId: string): void {
  if (!isListed(caller, conversationId)) fail('SVC_CONVERSATION_NOT_FOUND');
}

/** A user must be an active member whose role allows the action; an API key need not. */
export function assertMember(caller: Moderator, role: ChatMemberRole | null, action: ChatAction): void {
  if (caller.kind !== 'chatToken') return;
  if (role === null) fail('SVC_NOT_A_MEMBER');
  if (!roleCan(role, action)) fail('SVC_FORBIDDEN', { message: 'Your role in this conversation does not allow this.' });
}

/** The user a per-user call is for: the token's own, or the one the API key names. */
export function subjectOf(caller: ChatCaller, named: string | undefined): string {
  return caller.kind === 'chatToken' ? caller.userId : (named ?? fail('SVC_USER_REQUIRED'));
}

const identity = new RegExp(identityPattern);

/** The author an API key names must be an identity; what a token says there is ignored. */
export function assertAuthor(caller: ChatCaller, field: 'senderId' | 'uploaderId', named: string | undefined): void {
  if (caller.kind === 'chatToken' || !named || identity.test(named)) return;
  refuse([{ field, rule: 'pattern', message: `${field} must match ${identityPattern}.` }]);
}

/** Who is said to have done it: an API key acts as the server unless it names a user. */
export const actorOf = (caller: Moderator, named?: string): string =>
  userOf(caller) ?? named ?? (caller.kind === 'dashboard' ? 'dashboard' : 'server');
