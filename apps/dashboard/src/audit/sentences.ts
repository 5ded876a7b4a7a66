import type { AuditAction, AuditEntry } from '@parley/contract';

/** What each action is called in a sentence about it. */
export const auditSentences: Readonly<Record<AuditAction, string>> = {
  'project.created': 'created the project',
  'project.updated': 'changed the project',
  'project.archived': 'archived the project',
  'api_key.created': 'created API key',
  'api_key.revoked': 'revoked API key',
  'member.added': 'added member',
  'member.removed': 'removed member',
  'member.role_changed': 'changed the role of',
  'webhook.created': 'created webhook',
  'webhook.updated': 'changed webhook',
  'webhook.deleted': 'deleted webhook',
};

export function sentenceOf({ action, resourceType, resourceId }: AuditEntry): string {
  // An entry may be older or newer than this page.
  const words = (auditSentences as Readonly<Record<string, string>>)[action] ?? action;
  return resourceType === 'project' ? words : `${words} ${resourceId}`;
}
