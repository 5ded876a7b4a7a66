import type { chatModerationRoutes, moderationDashboardRoutes } from '@parley/contract';
import type { Handlers } from '../../../core/handlers.ts';
import { asDashboard } from '../callers.ts';
import type { Shadow } from '../shadow/shadow.ts';
import type { Deletions } from './deletions.ts';
import type { HookSettings } from './hook.ts';
import type { Reports } from './reports.ts';
import type { Sanctions } from './sanctions.ts';
import type { Settings } from './settings.ts';

interface ModerationParts {
  sanctions: Sanctions;
  settings: Settings;
  reports: Reports;
  hook: HookSettings;
  scan: Pick<HookSettings, 'find'>;
  deletions: Deletions;
  shadow: Pick<Shadow, 'list'>;
}

type ModerationHandlers = Handlers<typeof chatModerationRoutes> & Handlers<typeof moderationDashboardRoutes>;

export const createModerationHandlers = (parts: ModerationParts): ModerationHandlers => ({
  ...ofBackends(parts),
  ...ofDashboard(parts),
});

function ofDashboard(parts: ModerationParts): Handlers<typeof moderationDashboardRoutes> {
  const { sanctions, settings, reports, hook, scan, deletions } = parts;
  return {
    listProjectChatBans: ({ caller, query }) => sanctions.list(caller, 'BAN', query),
    banProjectChatUser: ({ caller, params, body }) => sanctions.impose(asDashboard(caller), 'BAN', params.userId, body),
    unbanProjectChatUser: ({ caller, params }) => sanctions.lift(asDashboard(caller), 'BAN', params.userId),
    listProjectChatMutes: ({ caller, query }) => sanctions.list(caller, 'MUTE', query),
    muteProjectChatUser: ({ caller, params, body }) =>
      sanctions.impose(asDashboard(caller), 'MUTE', params.userId, body),
    unmuteProjectChatUser: ({ caller, params }) => sanctions.lift(asDashboard(caller), 'MUTE', params.userId),
    listProjectChatShadows: ({ caller, query }) => sanctions.list(caller, 'SHADOW', query),
    shadowProjectChatUser: ({ caller, params, body }) =>
      sanctions.impose(asDashboard(caller), 'SHADOW', params.userId, body),
    unshadowProjectChatUser: ({ caller, params }) => sanctions.lift(asDashboard(caller), 'SHADOW', params.userId),
    listProjectConversationSanctions: ({ caller, params, query }) =>
      sanctions.listAllIn(asDashboard(caller), params.conversationId, query),
    unbanProjectConversationUser: ({ caller, params }) =>
      sanctions.liftIn(asDashboard(caller), params.conversationId, 'BAN', params.userId),
    unmuteProjectConversationUser: ({ caller, params }) =>
      sanctions.liftIn(asDashboard(caller), params.conversationId, 'MUTE', params.userId),
    unshadowProjectConversationUser: ({ caller, params }) =>
      sanctions.liftIn(asDashboard(caller), params.conversationId, 'SHADOW', params.userId),
    async getProjectModeration({ caller }) {
      const [set, asked, scanned] = await Promise.all([settings.getAll(caller), hook.find(caller), scan.find(caller)]);
      return { ...set, hook: asked, scan: scanned };
    },
    setProjectModeration: ({ caller, body }) => settings.set(caller, body),
    setProjectModerationHook: ({ caller, body }) => hook.set(caller, body),
    rotateProjectModerationHook: ({ caller }) => hook.rotate(caller),
    removeProjectModerationHook: ({ caller }) => hook.remove(caller),
    deleteProjectUserMessages: ({ caller, params, body }) => deletions.begin(asDashboard(caller), params.userId, body),
    listProjectChatDeletions: ({ caller, query }) => deletions.list(caller, query),
    listProjectReports: ({ caller, query }) => reports.listReplicated(asDashboard(caller), query),
    resolveProjectReport: ({ caller, params, body }) => reports.resolve(asDashboard(caller), params.reportId, body),
  };
}

function ofBackends(parts: ModerationParts): Handlers<typeof chatModerationRoutes> {
  const { sanctions, settings, reports, hook, deletions, shadow } = parts;
  return {
    listConversationBans: ({ caller, params, query }) => sanctions.listIn(caller, params.room, 'BAN', query),
    banFromConversation: ({ caller, params, body }) =>
      sanctions.imposeIn(caller, params.room, 'BAN', params.userId, body),
    unbanFromConversation: ({ caller, params }) => sanctions.liftIn(caller, params.room, 'BAN', params.userId),
    listConversationMutes: ({ caller, params, query }) => sanctions.listIn(caller, params.room, 'MUTE', query),
    muteInConversation: ({ caller, params, body }) =>
      sanctions.imposeIn(caller, params.room, 'MUTE', params.userId, body),
    unmuteInConversation: ({ caller, params }) => sanctions.liftIn(caller, params.room, 'MUTE', params.userId),
    listChatBans: ({ caller, query }) => sanctions.list(caller, 'BAN', query),
    banFromChat: ({ caller, params, body }) => sanctions.impose(caller, 'BAN', params.userId, body),
    unbanFromChat: ({ caller, params }) => sanctions.lift(caller, 'BAN', params.userId),
    listChatMutes: ({ caller, query }) => sanctions.list(caller, 'MUTE', query),
    muteInChat: ({ caller, params, body }) => sanctions.impose(caller, 'MUTE', params.userId, body),
    listConversationShadows: ({ caller, params, query }) => sanctions.listIn(caller, params.room, 'SHADOW', query),
    shadowInConversation: ({ caller, params, body }) =>
      sanctions.imposeIn(caller, params.room, 'SHADOW', params.userId, body),
    unshadowInConversation: ({ caller, params }) => sanctions.liftIn(caller, params.room, 'SHADOW', params.userId),
    listShadowMessages: ({ caller, params, query }) => shadow.list(caller, params.room, query),
    listChatShadows: ({ caller, query }) => sanctions.list(caller, 'SHADOW', query),
    shadowInChat: ({ caller, params, body }) => sanctions.impose(caller, 'SHADOW', params.userId, body),
    unshadowInChat: ({ caller, params }) => sanctions.lift(caller, 'SHADOW', params.userId),
    getChatModeration: ({ caller }) => settings.get(caller),
    setChatModeration: ({ caller, body }) => settings.set(caller, body),
    getModerationHook: ({ caller }) => hook.get(caller),
    setModerationHook: ({ caller, body }) => hook.set(caller, body),
    removeModerationHook: ({ caller }) => hook.remove(caller),
    rotateModerationHook: ({ caller }) => hook.rotate(caller),
    deleteUserMessages: ({ caller, params, body }) => deletions.begin(caller, params.userId, body),
    getChatDeletion: ({ caller, params }) => deletions.get(caller, params.deletionId),
    reportMessage: ({ caller, params, body }) => reports.report(caller, params.messageId, body),
    listChatReports: ({ caller, query }) => reports.list(caller, query),
    getChatReport: ({ caller, params }) => reports.get(caller, params.reportId),
    resolveChatReport: ({ caller, params, body }) => reports.resolve(caller, params.reportId, body),
    unmuteInChat: ({ caller, params }) => sanctions.lift(caller, 'MUTE', params.userId),
  };
}
