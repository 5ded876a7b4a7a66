import type { AuditAction, AuditEntry } from '@parley/contract';
import type { FirstKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';

/** What each action is called in a sentence about it. */
export const auditSentences = {
  'project.created': 'audit.projectCreated',
  'project.updated': 'audit.projectUpdated',
  'project.archived': 'audit.projectArchived',
  'api_key.created': 'audit.keyCreated',
  'api_key.revoked': 'audit.keyRevoked',
  'signing_key.created': 'audit.signingKeyCreated',
  'signing_key.revoked': 'audit.signingKeyRevoked',
  'api_key.used_from_new_network': 'audit.keyInNewNetwork',
  'member.added': 'audit.memberAdded',
  'member.removed': 'audit.memberRemoved',
  'member.role_changed': 'audit.roleChanged',
  'webhook.created': 'audit.webhookCreated',
  'webhook.updated': 'audit.webhookUpdated',
  'webhook.deleted': 'audit.webhookDeleted',
  'user.revoked': 'audit.userRevoked',
  'user.unbanned': 'audit.userUnbanned',
  'chat.user_banned': 'audit.chatUserBanned',
  'chat.user_unbanned': 'audit.chatUserUnbanned',
  'chat.user_blocked': 'audit.chatUserBlocked',
  'chat.user_unblocked': 'audit.chatUserUnblocked',
  'chat.user_muted': 'audit.chatUserMuted',
  'chat.user_unmuted': 'audit.chatUserUnmuted',
  'chat.user_shadowed': 'audit.chatUserShadowed',
  'chat.user_unshadowed': 'audit.chatUserUnshadowed',
  'data_job.created': 'audit.dataJobCreated',
  'chat.moderation_updated': 'audit.chatModerationUpdated',
  'chat.slow_mode_changed': 'audit.chatSlowModeChanged',
  'chat.report_resolved': 'audit.chatReportResolved',
  'chat.attachment_scanned': 'audit.chatAttachmentScanned',
  'chat.messages_deleted': 'audit.chatMessagesDeleted',
  'call.shared': 'audit.callShared',
  'usage_prices.updated': 'audit.pricesUpdated',
  'alert.created': 'audit.alertCreated',
  'alert.updated': 'audit.alertUpdated',
  'alert.deleted': 'audit.alertDeleted',
  'alert.silenced': 'audit.alertSilenced',
  'push.updated': 'audit.pushUpdated',
} as const satisfies Record<AuditAction, FirstKey>;

const isKnown = (action: string): action is AuditAction => Object.hasOwn(auditSentences, action);

export function sentenceOf({ action, resourceId, metadata }: AuditEntry): string {
  const { network } = metadata;
  const resource = typeof network === 'string' ? network : resourceId;
  // An entry may be older or newer than this page.
  return isKnown(action) ? t(auditSentences[action], { resource }) : `${action} ${resource}`;
}
