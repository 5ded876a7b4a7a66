import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { fail } from '@parley/contract';
import { lazy } from '../../core/lazy.ts';

/** The commonest of those long enough to be allowed at all, commonest first (ADR 92). */
const common = lazy(() => {
  const packed = readFileSync(new URL('./common-passwords.txt.gz', import.meta.url));
  return new Set(gunzipSync(packed).toString().trimEnd().split('\n'));
});

/** Refuses what is tried first at every account. */
export function assertUncommon(password: string): void {
  if (common().has(password.toLowerCase())) fail('SVC_PASSWORD_TOO_COMMON');
}
