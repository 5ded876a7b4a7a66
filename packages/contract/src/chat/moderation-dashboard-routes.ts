import { Type } from 'typebox';
import { routes } from '../route.ts';
import { EnvironmentQuery, PageQuery } from '../schema.ts';
import {
  ChatDeletion,
  DeleteMessages,
  ImposeSanction,
  ModerationOverview,
  ModerationSettings,
  NewModerationHook,
  ReportMetadata,
  ReportStatus,
  ResolveReport,
  Sanction,
  SetHook,
  SetModeration,
} from './moderation-schemas.ts';

const Query = Type.Object(EnvironmentQuery);
const Page = Type.Object({ ...EnvironmentQuery, ...PageQuery });
const reading = { by: ['session'], needs: 'chat:read', query: Query } as const;
const managing = { by: ['session'], needs: 'chat:manage', query: Query } as const;
const list = {
  ...reading,
  query: Page,
  paged: true,
  returns: [200, Type.Array(Sanction)],
  throws: ['SVC_INVALID_CURSOR'],
} as const;
const impose = {
  ...managing,
  body: ImposeSanction,
  isBodyOptional: true,
  returns: [200, Sanction],
  throws: ['SVC_VALIDATION_FAILED', 'SVC_QUOTA_EXCEEDED'],
} as const;
const here = ['SVC_CONVERSATION_NOT_FOUND'] as const;
const lift = { ...managing, returns: [204, null], throws: ['SVC_VALIDATION_FAILED'] } as const;

/** Moderation by people who are signed in to the dashboard: they see who and why, never what was written. */
export const moderationDashboardRoutes = routes({
  listProjectChatBans: {
    at: 'GET /v1/projects/{projectId}/chat/bans',
    ...list,
    does: 'Lists who is banned from all chat of the environment, latest first.',
  },
  banProjectChatUser: {
    at: 'PUT /v1/projects/{projectId}/chat/bans/{userId}',
    ...impose,
    audit: 'chat.user_banned',
    does: 'Shuts a user out of all chat of the environment, until a time or for good.',
  },
  unbanProjectChatUser: {
    at: 'DELETE /v1/projects/{projectId}/chat/bans/{userId}',
    ...lift,
    audit: 'chat.user_unbanned',
    does: 'Lifts a ban from all chat of the environment.',
  },
  listProjectChatMutes: {
    at: 'GET /v1/projects/{projectId}/chat/mutes',
    ...list,
    does: 'Lists who is muted in all conversations of the environment, latest first.',
  },
  muteProjectChatUser: {
    at: 'PUT /v1/projects/{projectId}/chat/mutes/{userId}',
    ...impose,
    audit: 'chat.user_muted',
    does: 'Lets a user read and no longer write in any conversation of the environment, until a time or for good.',
  },
  unmuteProjectChatUser: {
    at: 'DELETE /v1/projects/{projectId}/chat/mutes/{userId}',
    ...lift,
    audit: 'chat.user_unmuted',
    does: 'Lifts a mute in all conversations of the environment.',
  },
  listProjectChatShadows: {
    at: 'GET /v1/projects/{projectId}/chat/shadows',
    ...list,
    does: 'Lists who is in the shadow in all conversations of the environment, latest first.',
  },
  shadowProjectChatUser: {
    at: 'PUT /v1/projects/{projectId}/chat/shadows/{userId}',
    ...impose,
    audit: 'chat.user_shadowed',
    does: 'Shows what a user sends in any conversation to themselves alone, until a time or for good, without telling them.',
  },
  unshadowProjectChatUser: {
    at: 'DELETE /v1/projects/{projectId}/chat/shadows/{userId}',
    ...lift,
    audit: 'chat.user_unshadowed',
    does: 'Lifts a shadow: what is sent from here on is for all. What was sent before stays where it is.',
  },
  listProjectConversationSanctions: {
    at: 'GET /v1/projects/{projectId}/chat/conversations/{conversationId}/sanctions',
    ...list,
    throws: [...here, ...list.throws],
    does: 'Lists who is banned from one conversation, muted or in the shadow there: by kind, latest first.',
  },
  unbanProjectConversationUser: {
    at: 'DELETE /v1/projects/{projectId}/chat/conversations/{conversationId}/bans/{userId}',
    ...lift,
    throws: [...here, ...lift.throws],
    audit: 'chat.user_unbanned',
    does: 'Lifts a ban from one conversation: the user can be added again.',
  },
  unmuteProjectConversationUser: {
    at: 'DELETE /v1/projects/{projectId}/chat/conversations/{conversationId}/mutes/{userId}',
    ...lift,
    throws: [...here, ...lift.throws],
    audit: 'chat.user_unmuted',
    does: 'Lifts a mute in one conversation.',
  },
  unshadowProjectConversationUser: {
    at: 'DELETE /v1/projects/{projectId}/chat/conversations/{conversationId}/shadows/{userId}',
    ...lift,
    throws: [...here, ...lift.throws],
    audit: 'chat.user_unshadowed',
    does: 'Lifts a shadow in one conversation: what is sent from here on is for all.',
  },
  getProjectModeration: {
    at: 'GET /v1/projects/{projectId}/chat/moderation',
    ...reading,
    returns: [200, ModerationOverview],
    does: 'Reads the word lists, the rule for links, the pre-send hook, the scan hook and whether links get previews in the environment.',
  },
  setProjectModeration: {
    at: 'PUT /v1/projects/{projectId}/chat/moderation',
    ...managing,
    audit: 'chat.moderation_updated',
    body: SetModeration,
    returns: [200, ModerationSettings],
    throws: ['SVC_VALIDATION_FAILED'],
    does: 'Replaces the word lists and the rule for links of the environment.',
  },
  setProjectModerationHook: {
    at: 'PUT /v1/projects/{projectId}/chat/moderation/hook',
    ...managing,
    stepUp: 'inProduction',
    audit: 'chat.moderation_updated',
    body: SetHook,
    returns: [200, NewModerationHook],
    throws: ['SVC_INVALID_WEBHOOK_URL'],
    does: 'Sets the pre-send hook. The first answer is the only one that shows its secret.',
  },
  rotateProjectModerationHook: {
    at: 'POST /v1/projects/{projectId}/chat/moderation/hook/rotate-secret',
    ...managing,
    stepUp: 'withFactor',
    audit: 'chat.moderation_updated',
    returns: [200, NewModerationHook],
    throws: ['SVC_HOOK_NOT_FOUND'],
    does: 'Makes a new secret for the pre-send hook, and shows it once. Both secrets sign for 24 hours.',
  },
  removeProjectModerationHook: {
    at: 'DELETE /v1/projects/{projectId}/chat/moderation/hook',
    ...managing,
    audit: 'chat.moderation_updated',
    returns: [204, null],
    does: 'Removes the pre-send hook.',
  },
  deleteProjectUserMessages: {
    at: 'POST /v1/projects/{projectId}/chat/users/{userId}/delete-messages',
    ...managing,
    stepUp: 'inProduction',
    audit: 'chat.messages_deleted',
    body: DeleteMessages,
    isBodyOptional: true,
    returns: [202, ChatDeletion],
    throws: ['SVC_VALIDATION_FAILED', 'SVC_CONVERSATION_NOT_FOUND', 'SVC_QUOTA_EXCEEDED'],
    does: 'Begins to delete all messages of a user, in one conversation or in all.',
  },
  listProjectChatDeletions: {
    at: 'GET /v1/projects/{projectId}/chat/deletions',
    ...reading,
    query: Page,
    paged: true,
    returns: [200, Type.Array(ChatDeletion)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Lists deletions of all messages of a user that run or ended in the last 30 days, latest first.',
  },
  listProjectReports: {
    at: 'GET /v1/projects/{projectId}/chat/reports',
    ...reading,
    query: Type.Object({ ...Page.properties, status: Type.Optional(ReportStatus) }),
    paged: true,
    returns: [200, Type.Array(ReportMetadata)],
    throws: ['SVC_INVALID_CURSOR'],
    does: 'Lists reports without what users wrote in them, latest first: the open ones unless `status` says otherwise.',
  },
  resolveProjectReport: {
    at: 'POST /v1/projects/{projectId}/chat/reports/{reportId}/resolve',
    ...managing,
    audit: 'chat.report_resolved',
    body: ResolveReport,
    returns: [200, ReportMetadata],
    throws: [
      'SVC_REPORT_NOT_FOUND',
      'SVC_REPORT_RESOLVED',
      'SVC_MESSAGE_NOT_FOUND',
      'SVC_CONVERSATION_NOT_FOUND',
      'SVC_MEMBER_NOT_FOUND',
      'SVC_VALIDATION_FAILED',
      'SVC_QUOTA_EXCEEDED',
    ],
    does: 'Resolves a report: with nothing, by deleting the message, or by muting or banning who sent it.',
  },
});
