const [lengthMin, lengthMax] = [8, 128];

/** Length is the only rule of form; the service refuses what is known to have leaked. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < lengthMin) return `Use at least ${lengthMin} characters.`;
  return password.length > lengthMax ? `Use at most ${lengthMax} characters.` : undefined;
}
