import type { Credential } from '@parley/contract';
import { ownCalls } from './own-calls.ts';
import type { Route } from './table.ts';

/** What the member's role in the conversation decides besides the scope (S60). */
export const BY_ROLE = new Set<string>([
  'updateConversation',
  'addConversationMember',
  'changeConversationMember',
  'removeConversationMember',
  'listConversationBans',
  'banFromConversation',
  'unbanFromConversation',
  'listConversationMutes',
  'muteInConversation',
  'unmuteInConversation',
  'listConversationShadows',
  'shadowInConversation',
  'unshadowInConversation',
  'listShadowMessages',
]);

/** What is for those who moderate: it does not exist for a plain member (MOD-29). */
export const OF_MODERATORS = new Set<string>(['getChatReport', 'resolveChatReport']);

/** A chat token gets the error of a missing scope: it is one that no token has (S60). */
export const BEYOND_TOKENS = new Set<string>(['createConversation']);
/** The kinds of credential that do what the route is for. */
export const kindsOf = ({ name, row }: Route): readonly Credential[] =>
  row.by.filter((kind) => kind !== 'chatToken' || !BEYOND_TOKENS.has(name));

/** After these, as after a DELETE, something of the world is gone or not as it was. */
const ENDING = new Set<string>([
  'disableWebhook',
  'endLiveStream',
  'endProjectLiveStream',
  'resolveChatReport',
  'resolveProjectReport',
]);
/** What people do to themselves: each needs somebody of its own, after whom nothing else is asked. */
const OF_A_PERSON = new Set<string>(['endSession', 'endAllSessions', ...Object.keys(ownCalls)]);
/** After these nothing else can be asked, or before them nothing: an archived project, a seat that is taken over. */
const OF_ITS_OWN = new Set<string>(['archiveProject', 'trickleWhip', 'trickleWhep', 'endWhep']);
export const isEnding = ({ method, name }: Route): boolean => method === 'DELETE' || ENDING.has(name);
export const isAlone = ({ name }: Route): boolean => OF_ITS_OWN.has(name);
export const isOfAPerson = ({ name }: Route): boolean => OF_A_PERSON.has(name);

/** A scheduled message is its user's own: only what it would pass on is of members (FWD-2). */
export const isOfMembers = ({ row, things }: Route): boolean =>
  row.throws?.includes('SVC_NOT_A_MEMBER') === true && !things.includes('scheduledId');
