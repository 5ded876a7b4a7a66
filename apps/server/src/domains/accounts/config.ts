import type { RegistrationPolicy } from '@parley/contract';
import type { Tx } from '../../core/db.ts';

/** What a deployment decides about accounts. */
export interface AccountsConfig {
  publicUrl: string;
  isProduction: boolean;
  requireVerifiedEmail: boolean;
  /** Without domains an address of any is taken. */
  registration: { policy: RegistrationPolicy; domains: readonly string[] };
  /** Empty: the first account is the operator. */
  operatorEmails: readonly string[];
  oauth: OAuthConfig;
}

export interface OAuthConfig {
  google: OAuthClient | null;
  /** `url` and `apiUrl` differ on GitHub Enterprise. */
  github: (OAuthClient & { url: string; apiUrl: string }) | null;
  /** Any provider that speaks OpenID Connect. */
  oidc: (OAuthClient & { issuer: string }) | null;
  /** Exact addresses beside those on our own origin. */
  redirectUris: readonly string[];
}

export interface OAuthClient {
  clientId: string;
  clientSecret: string;
}

/** Joins an account whose address is proven to what was waiting for it (project invitations). */
export type OnUserReady = (tx: Tx, user: { id: string; email: string }) => Promise<void>;

/** Whether something waits for an account of this address (project invitations). */
export type IsInvited = (tx: Tx, email: string) => Promise<boolean>;

/** Whether sessions enter a project only with a second factor. */
export type RequiresSecondFactor = (projectId: string) => Promise<boolean>;
