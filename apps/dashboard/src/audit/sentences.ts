import type { AuditAction, AuditEntry } from '@parley/contract';

/** What each action is called in a sentence about it. */
export const auditSentences: Readonly<Record<AuditAction, string>> = {
  'project.created': 'created the project',
  'project.updated': 'changed the project',
  'project.archived': 'archived the project',
  'api_key.created': 'created API key',
  'api_key.revoked': 'revoked API key',
  'signing_key.created': 'created signing key',
  'signing_key.revoked': 'revoked signing key',
  'api_key.used_from_new_network': 'was used from the new network',
  'member.added': 'added member',
  'member.removed': 'removed member',
  'member.role_changed': 'changed the role of',
  'webhook.created': 'created webhook',
  'webhook.updated': 'changed webhook',
  'webhook.deleted': 'deleted webhook',
  'user.revoked': 'shut out user',
  'user.unbanned': 'lifted the ban of user',
  'call.shared': 'made a link to call',
};

export function sentenceOf({ action, resourceType, resourceId, metadata }: AuditEntry): string {
  // An entry may be older or newer than this page.
  const words = (auditSentences as Readonly<Record<string, string>>)[action] ?? action;
  if (typeof metadata['network'] === 'string') return `${words} ${metadata['network']}`;
  return resourceType === 'project' ? words : `${words} ${resourceId}`;
}
