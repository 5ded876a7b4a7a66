import { type Static, Type } from 'typebox';

export const environments = ['DEVELOPMENT', 'PRODUCTION'] as const;
export const Environment = Type.Enum(environments);
export type Environment = Static<typeof Environment>;

export const ProjectStatus = Type.Enum(['ACTIVE', 'ARCHIVED']);
export type ProjectStatus = Static<typeof ProjectStatus>;

export const DashboardRole = Type.Enum(['OWNER', 'ADMIN', 'DEVELOPER', 'VIEWER']);
export type DashboardRole = Static<typeof DashboardRole>;

export const MemberStatus = Type.Enum(['ACTIVE', 'INVITED']);
export type MemberStatus = Static<typeof MemberStatus>;

export const ApiKeyStatus = Type.Enum(['ACTIVE', 'EXPIRED', 'REVOKED']);
export type ApiKeyStatus = Static<typeof ApiKeyStatus>;

export const SigningKeyStatus = Type.Enum(['ACTIVE', 'REVOKED']);
export type SigningKeyStatus = Static<typeof SigningKeyStatus>;

/** How tokens are signed that a backend mints by itself: with a secret, or with the private half of a pair. */
export const SigningAlgorithm = Type.Enum(['HS256', 'EdDSA', 'ES256']);
export type SigningAlgorithm = Static<typeof SigningAlgorithm>;

/** How an environment is written inside an API key. */
export const environmentTags = { DEVELOPMENT: 'dev', PRODUCTION: 'prod' } as const satisfies Record<
  Environment,
  string
>;
