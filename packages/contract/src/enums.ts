import { type Static, Type } from 'typebox';

export const Environment = Type.Enum(['DEVELOPMENT', 'PRODUCTION']);
export type Environment = Static<typeof Environment>;

export const ProjectStatus = Type.Enum(['ACTIVE', 'ARCHIVED']);
export type ProjectStatus = Static<typeof ProjectStatus>;

export const DashboardRole = Type.Enum(['OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER']);
export type DashboardRole = Static<typeof DashboardRole>;

export const MemberStatus = Type.Enum(['ACTIVE', 'INVITED']);
export type MemberStatus = Static<typeof MemberStatus>;

export const ApiKeyStatus = Type.Enum(['ACTIVE', 'REVOKED']);
export type ApiKeyStatus = Static<typeof ApiKeyStatus>;

/** How an environment is written inside an API key. */
export const environmentTags = { DEVELOPMENT: 'dev', PRODUCTION: 'prod' } as const satisfies Record<
  Environment,
  string
>;
