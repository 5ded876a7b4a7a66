import { identityPattern } from '@parley/contract';
import { refuse } from '../../../core/validation.ts';

const identity = new RegExp(identityPattern);
const userIdMax = 128;

/** A user that a path names. */
export function assertUserId(userId: string): void {
  if (identity.test(userId) && userId.length <= userIdMax) return;
  const message = `userId must have at most ${userIdMax} characters and match ${identityPattern}.`;
  refuse([{ field: 'userId', rule: 'pattern', message }]);
}
