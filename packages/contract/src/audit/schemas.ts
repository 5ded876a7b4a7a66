import { type Static, Type } from 'typebox';
import { Environment } from '../enums.ts';
import { Metadata, Nullable, Timestamp } from '../schema.ts';

/** The recorded actions and what each is about. */
export const auditActions = {
  'project.created': 'project',
  'project.updated': 'project',
  'project.archived': 'project',
  'api_key.created': 'api_key',
  'api_key.revoked': 'api_key',
  'signing_key.created': 'signing_key',
  'signing_key.revoked': 'signing_key',
  'api_key.used_from_new_network': 'api_key',
  'member.added': 'member',
  'member.removed': 'member',
  'member.role_changed': 'member',
  'webhook.created': 'webhook',
  'webhook.updated': 'webhook',
  'webhook.deleted': 'webhook',
  'user.revoked': 'user',
  'user.unbanned': 'user',
  'chat.user_banned': 'user',
  'chat.user_unbanned': 'user',
  'chat.user_muted': 'user',
  'chat.user_unmuted': 'user',
  'chat.user_shadowed': 'user',
  'chat.user_unshadowed': 'user',
  'chat.user_blocked': 'user',
  'chat.user_unblocked': 'user',
  'data_job.created': 'data_job',
  'chat.moderation_updated': 'project',
  'chat.slow_mode_changed': 'conversation',
  'chat.report_resolved': 'report',
  'chat.attachment_scanned': 'attachment',
  'chat.messages_deleted': 'user',
  'call.shared': 'call',
  'usage_prices.updated': 'usage_prices',
  'alert.created': 'alert',
  'alert.updated': 'alert',
  'alert.deleted': 'alert',
  'alert.silenced': 'alert',
  'push.updated': 'push',
} as const;
export type AuditAction = keyof typeof auditActions;

/** What happens to a person's account and is recorded. */
export const securityActions = {
  'account.signed_in': 'Signed in; `method` says how.',
  'account.sign_in_failed': 'Somebody tried to sign in and failed; `reason` says why.',
  'account.password_reset_requested': 'A link to set a new password was mailed.',
  'account.password_reset': 'The password was set through a mailed link.',
  'account.password_changed': 'The password was changed inside a session.',
  'account.password_change_failed': 'Somebody in a session gave a wrong current password.',
  'account.signed_out': 'Signed out.',
  'account.session_ended': 'One session was ended from another.',
  'account.sessions_ended': 'Every session was ended.',
  'account.refresh_token_reused': 'A refresh token was used twice, so its session was ended: it may have been stolen.',
  'account.second_factor_failed': 'A code, recovery code or passkey was wrong; `at` is `SIGN_IN` or `STEP_UP`.',
  'account.factor_added': 'A second factor was added; `factor` says which kind.',
  'account.factor_removed': 'A second factor was removed; `factor` says which kind.',
  'account.recovery_codes_renewed': 'New recovery codes took the place of all older ones.',
  'account.failures_muted': 'There are more failures than are recorded in an hour.',
} as const;
export type SecurityAction = keyof typeof securityActions;

export const AuditEntry = Type.Object({
  id: Type.String(),
  publicId: Type.String(),
  projectId: Type.String(),
  environment: Nullable(Environment),
  actorId: Type.String(),
  actorEmail: Type.String(),
  action: Type.String(),
  resourceType: Type.String(),
  resourceId: Type.String(),
  metadata: Metadata,
  requestId: Type.String(),
  ipAddress: Type.String(),
  userAgent: Nullable(Type.String()),
  createdAt: Timestamp,
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditQuery = Type.Object({
  action: Type.Optional(Type.String()),
  actorId: Type.Optional(Type.String({ maxLength: 128 })),
  resourceId: Type.Optional(Type.String({ maxLength: 128 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  before: Type.Optional(Type.String({ maxLength: 64 })),
});

export const AuditExportQuery = Type.Object({
  action: AuditQuery.properties.action,
  actorId: AuditQuery.properties.actorId,
  resourceId: AuditQuery.properties.resourceId,
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
});

export const SecurityEntry = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  userEmail: Type.String(),
  action: Type.String(),
  /** The browser and its system, in words. */
  device: Nullable(Type.String()),
  /** The network, in words; never a whole address. */
  place: Nullable(Type.String()),
  metadata: Metadata,
  requestId: Type.String(),
  createdAt: Timestamp,
});
export type SecurityEntry = Static<typeof SecurityEntry>;

export const SecurityQuery = Type.Object({
  action: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  before: Type.Optional(Type.String({ maxLength: 64 })),
});

export const InstanceSecurityQuery = Type.Object({
  ...SecurityQuery.properties,
  userId: Type.Optional(Type.String({ maxLength: 128 })),
});
