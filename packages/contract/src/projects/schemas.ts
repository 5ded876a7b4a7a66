import { type Static, Type } from 'typebox';
import { ApiKeyStatus, DashboardRole, Environment, MemberStatus, ProjectStatus } from '../enums.ts';
import { Line, Nullable, Timestamp, Uuid } from '../schema.ts';
import { ApiKeyScope } from './key-scopes.ts';

export const Project = Type.Object({
  id: Uuid,
  name: Type.String(),
  slug: Type.String(),
  status: ProjectStatus,
  environment: Nullable(Environment),
  allowedOrigins: Type.Array(Type.String()),
  allowLocalhostOrigins: Type.Boolean(),
  /** Members open it with a second factor only. */
  requireSecondFactor: Type.Boolean(),
  role: Nullable(DashboardRole),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  archivedAt: Nullable(Timestamp),
});
export type Project = Static<typeof Project>;

export const ProjectName = Line(1, 128);
export const CreateProject = Type.Object({ name: ProjectName });
export const UpdateProject = Type.Object({ name: Type.Optional(ProjectName) });

export const UpdateProjectSecurity = Type.Object({ requireSecondFactor: Type.Boolean() });

export const UpdateAllowedOrigins = Type.Object({
  allowedOrigins: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { maxItems: 100 }),
  allowLocalhostOrigins: Type.Optional(Type.Boolean()),
});
export type UpdateAllowedOrigins = Static<typeof UpdateAllowedOrigins>;

export const ProjectMember = Type.Object({
  userId: Nullable(Uuid),
  email: Type.String(),
  name: Nullable(Type.String()),
  role: DashboardRole,
  status: MemberStatus,
  addedAt: Timestamp,
});
export type ProjectMember = Static<typeof ProjectMember>;

/** One plain mailbox: nothing that a mail program reads as a list, a name, a quote or a comment. */
const mailboxPart = '[^\\s@<>()\\[\\]\\\\,;:"\\u0000-\\u001f\\u007f]+';
export const Email = Type.String({ minLength: 3, maxLength: 254, pattern: `^${mailboxPart}@${mailboxPart}$` });
export const AddMember = Type.Object({ email: Email, role: DashboardRole });
export const ChangeMember = Type.Object({ role: DashboardRole });

export const ApiKey = Type.Object({
  id: Uuid,
  publicId: Type.String(),
  name: Type.String(),
  environment: Environment,
  status: ApiKeyStatus,
  prefix: Type.String(),
  createdBy: Nullable(Type.String()),
  /** Null for a key that may everything. */
  scopes: Nullable(Type.Array(ApiKeyScope)),
  expiresAt: Nullable(Timestamp),
  /** Null for a key that works from anywhere. */
  allowedNetworks: Nullable(Type.Array(Type.String())),
  lastUsedAt: Nullable(Timestamp),
  /** The network and not the address: `203.0.113.0/24`, `2001:db8:1::/48`. */
  lastUsedFrom: Nullable(Type.String()),
  createdAt: Timestamp,
  revokedAt: Nullable(Timestamp),
});
export type ApiKey = Static<typeof ApiKey>;

/** The one answer that shows the whole key. */
export const NewApiKey = Type.Object({ ...ApiKey.properties, key: Type.String() });
export type NewApiKey = Static<typeof NewApiKey>;

/** Bounds that are left out do not exist: such a key may everything, from anywhere, for ever. */
export const CreateApiKey = Type.Object({
  name: Line(1, 64),
  environment: Type.Optional(Environment),
  scopes: Type.Optional(Type.Array(ApiKeyScope, { minItems: 1, uniqueItems: true })),
  expiresAt: Type.Optional(Timestamp),
  /** Networks in CIDR notation, or single addresses, of IPv4 and IPv6. */
  allowedNetworks: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 50 }),
  ),
});
export type CreateApiKey = Static<typeof CreateApiKey>;
