/** For the people in front of the page: no words of developers. */
const SENTENCES: Readonly<Record<string, (what: string) => string>> = {
  permission_denied: (what) => `This page may not use the ${what}. Allow it beside the address, then try again.`,
  permission_dismissed: (what) => `The browser asked for the ${what} and got no answer. Try again and choose “Allow”.`,
  device_in_use: (what) => `Another program uses the ${what}. Close it, then try again.`,
  device_not_found: (what) => `No ${what} was found. Connect one, then try again.`,
  device_failed: (what) => `The ${what} did not start. Choose another one.`,
  insecure_context: (what) => `The browser allows the ${what} on secure pages alone. Open this page with https://.`,
};

const CODES: Readonly<Record<string, string>> = {
  NotAllowedError: 'permission_denied',
  NotFoundError: 'device_not_found',
  OverconstrainedError: 'device_not_found',
  NotReadableError: 'device_in_use',
};

export interface CaptureReason {
  code: string;
  message: string;
}

/** Why the browser gave no media. Without a cause: there is nothing to ask, because the page is not secure. */
export async function reasonFor(what: string, cause?: unknown): Promise<CaptureReason> {
  const { name, message } = cause instanceof Error || cause instanceof DOMException ? cause : { name: '', message: '' };
  const code = CODES[name] ?? 'device_failed';
  const make = (next: string, sentence = SENTENCES[next]?.(what) ?? ''): CaptureReason => ({
    code: next,
    message: sentence,
  });
  if (cause === undefined) return make('insecure_context');
  if (name === 'OverconstrainedError') return make(code, `The chosen ${what} is not connected. Choose another one.`);
  if (code !== 'permission_denied') return make(code);
  if (/system/i.test(message))
    return make(code, `The computer does not let the browser use the ${what}. Allow it in its settings.`);
  // A screen is chosen each time: it is refused by choosing none.
  if (what === 'screen') return make('permission_dismissed', 'Nothing is shared. Try again and choose what.');
  return make((await wasDismissed(what, message)) ? 'permission_dismissed' : code);
}

/** Chromium says it in its message; of the others we know that a refusal for good is remembered. */
async function wasDismissed(what: string, message: string): Promise<boolean> {
  if (/dismissed|denied/i.test(message)) return /dismissed/i.test(message);
  const names = ['camera', 'microphone'].filter((name) => what.includes(name)) as PermissionName[];
  const states = await Promise.all(
    names.map(async (name) => (await navigator.permissions.query({ name })).state),
  ).catch(() => ['denied']);
  return names.length > 0 && !states.includes('denied');
}
