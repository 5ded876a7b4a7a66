/** The service decides what an address is; this catches a slip before it is sent. */
export const emailProblem = (email: string): string | undefined =>
  /^[^\s@]+@[^\s@]+$/.test(email) ? undefined : 'Enter your e-mail address.';
