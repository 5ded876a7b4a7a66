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
  'member.added': 'member',
  'member.removed': 'member',
  'member.role_changed': 'member',
  'webhook.created': 'webhook',
  'webhook.updated': 'webhook',
  'webhook.deleted': 'webhook',
} as const;
export type AuditAction = keyof typeof auditActions;

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
