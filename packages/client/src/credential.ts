import { ConnectionError, SvcError } from './errors.ts';

/** A token, or how to get one. With a function the SDK renews the token by itself. */
export type Credential = string | (() => string | Promise<string>);

export interface CredentialSource {
  /** False for a fixed token. */
  readonly canRenew: boolean;
  /** The token in use; fetched once, also when many ask at a time. */
  get(): Promise<string>;
  /** A new token from the provider; a fixed one stays as it is. */
  renew(): Promise<string>;
  /** Takes a token that the server itself gave out. */
  replace(token: string): void;
}

export function createCredential(credential: Credential): CredentialSource {
  let current: Promise<string> | null = null;

  async function ask(): Promise<string> {
    if (typeof credential === 'string') return credential;
    try {
      return await credential();
    } catch (cause) {
      if (SvcError.is(cause)) throw cause;
      throw new ConnectionError('network', {
        code: 'token_unavailable',
        message: 'The `token` function failed; see `cause`.',
        cause,
      });
    }
  }

  function renew(): Promise<string> {
    const asked = ask();
    current = asked;
    // A failure is not kept: the next caller asks again.
    asked.catch(() => {
      if (current === asked) current = null;
    });
    return asked;
  }

  return {
    canRenew: typeof credential === 'function',
    get: () => current ?? renew(),
    renew,
    replace(token) {
      current = Promise.resolve(token);
    },
  };
}
