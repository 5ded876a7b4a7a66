import type { chatModerationRoutes } from '@parley/contract';
import type { Handlers } from '../../../core/handlers.ts';
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
  deletions: Deletions;
}

export function createModerationHandlers(parts: ModerationParts): Handlers<typeof chatModerationRoutes> {
  const { sanctions, settings, reports, hook, deletions } = parts;
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
