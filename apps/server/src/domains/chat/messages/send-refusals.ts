import { type ErrorCode, fail, ServiceError } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { refuse } from '../../../core/validation.ts';
import { type ChatCaller, userOf } from '../callers.ts';
import { failForMany, failForNonMembers } from '../mentions/mentions.ts';
import type { Admission } from '../moderation/admission.ts';
import { findSlowMode } from '../moderation/slow-mode-store.ts';
import type { Target } from '../targets.ts';
import type { SendOutcome, SendProblem } from './send-store.ts';

type Refused = Extract<SendOutcome, { is: 'refused' }>;
/** Those that say nothing more than their code. */
type PlainProblem = Exclude<
  SendProblem,
  | 'SHADOWED'
  | 'ONCE_SHADOWED'
  | 'NOT_A_MEMBER'
  | 'MUTED'
  | 'SLOW'
  | 'SLOW_BESIDE'
  | 'UNKNOWN_MENTIONS'
  | 'MENTION_FORBIDDEN'
  | 'POLL_OVER'
>;

const problems: Readonly<Record<PlainProblem, ErrorCode>> = {
  GONE: 'SVC_CONVERSATION_NOT_FOUND',
  FORBIDDEN: 'SVC_FORBIDDEN',
  BLOCKED: 'SVC_CHAT_BLOCKED',
  ARCHIVED: 'SVC_CONVERSATION_ARCHIVED',
  INVALID_REPLY_TARGET: 'SVC_INVALID_REPLY_TARGET',
  ATTACHMENT_NOT_FOUND: 'SVC_ATTACHMENT_NOT_FOUND',
  ATTACHMENT_NOT_READY: 'SVC_ATTACHMENT_NOT_READY',
  ATTACHMENT_ALREADY_USED: 'SVC_ATTACHMENT_ALREADY_USED',
  ATTACHMENT_REJECTED: 'SVC_ATTACHMENT_REJECTED',
  METADATA_TOO_LARGE: 'SVC_METADATA_TOO_LARGE',
};

interface RefusalDeps {
  db: Db;
  clock: Clock;
  admission: Admission;
}

/** What the sender is told of a message that was not stored. */
export function createSendRefusals({ db, clock, admission }: RefusalDeps) {
  return async function failFor(
    caller: ChatCaller,
    { id, publicId }: Target,
    { problem, nonMembers }: Refused,
  ): Promise<never> {
    const userId = userOf(caller) ?? '';
    switch (problem) {
      case 'NOT_A_MEMBER':
        return admission.failAsNonMember(db, caller, publicId, userId);
      case 'MUTED':
        return admission.failAsMuted(db, caller, publicId, userId);
      case 'SLOW':
      case 'SLOW_BESIDE': {
        const nextAt = (await findSlowMode(db, id, userId))?.nextAt ?? iso(clock.now());
        return fail('SVC_SLOW_MODE', {
          retryAfterSeconds: Math.max(1, Math.ceil((Date.parse(nextAt) - clock.now()) / 1000)),
        });
      }
      case 'SHADOWED':
      case 'ONCE_SHADOWED':
        throw new Error('a message of the shadow was not stored there');
      case 'UNKNOWN_MENTIONS':
        return failForNonMembers(nonMembers ?? []);
      case 'MENTION_FORBIDDEN':
        return failForMany();
      case 'POLL_OVER':
        return refuse([{ field: 'poll.closesAt', rule: 'range', message: 'closesAt must be in the future.' }]);
      default:
        throw new ServiceError(problems[problem]);
    }
  };
}
