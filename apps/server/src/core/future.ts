import { iso } from './clock.ts';
import { refuse } from './validation.ts';

const yearsEnd = Date.UTC(10_000, 0);

/** A time that a request gives for something to end; fails when it is over. */
export function readFuture(field: string, text: string, now: number): string {
  const at = Date.parse(text);
  if (at > now && at < yearsEnd) return iso(at);
  return refuse([{ field, rule: 'future', message: `${field} must be in the future.` }]);
}
