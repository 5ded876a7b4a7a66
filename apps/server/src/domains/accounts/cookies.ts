/** A cookie that only our own pages can send and no script can read. */
export interface Cookie {
  readonly name: string;
  /** The `set-cookie` header that stores a value. */
  set(value: string): string;
  clear(): string;
}

/**
 * Over https the cookie has the `__Host-` prefix: no sibling domain can plant one. Browsers demand `Path=/` for it, so
 * only the plain-http cookie of development is scoped by path (ADR 0010).
 */
export function createCookie(options: { name: string; isSecure: boolean; maxAgeSeconds: number }): Cookie {
  const { isSecure } = options;
  const name = isSecure ? `__Host-${options.name}` : options.name;
  const attributes = `${isSecure ? 'Path=/; Secure' : 'Path=/v1/auth'}; HttpOnly; SameSite=Strict`;
  return {
    name,
    set: (value) => `${name}=${value}; Max-Age=${options.maxAgeSeconds}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}
