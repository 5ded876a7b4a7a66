/** Which field of a form the service's refusal of a common password belongs to. */
export const commonPassword = { SVC_PASSWORD_TOO_COMMON: 'password' } as const;

const [lengthMin, lengthMax] = [8, 128];

/** Length is the only rule of form; the service refuses the commonest. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < lengthMin) return `Use at least ${lengthMin} characters.`;
  return password.length > lengthMax ? `Use at most ${lengthMax} characters.` : undefined;
}
