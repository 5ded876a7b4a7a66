import { type ChatMemberRole, fail, roleCan } from '@parley/contract';
import type { ChatCaller } from '../callers.ts';
import type { Environments } from './environments.ts';
import type { HookCalls, HookQuestion } from './hook-calls.ts';
import { hasLink, judge, type TextRules } from './rules.ts';

/** A text as it may be sent, and the lists that want it looked at. */
interface Reviewed {
  text: string | undefined;
  flaggedBy: readonly string[];
}

/** What a user is about to say. The rest is asked only where a rule depends on it. */
interface Subject {
  text: string | undefined;
  roleOf: () => Promise<ChatMemberRole | null>;
  describe: (text: string | undefined) => Promise<HookQuestion>;
}

export interface Review {
  /** Refuses or changes it; servers say what they like. */
  check(caller: ChatCaller, subject: Subject): Promise<Reviewed>;
}

const nobody: readonly string[] = [];

export function createReview({
  environments,
  hookCalls,
}: {
  environments: Environments;
  hookCalls: HookCalls;
}): Review {
  return {
    async check(caller, subject) {
      const { text } = subject;
      if (caller.kind !== 'chatToken') return { text, flaggedBy: nobody };
      const { rules, hook } = await environments.get(caller);
      const reviewed =
        rules === null || text === undefined ? { text, flaggedBy: nobody } : await judged(rules, text, subject);
      if (hook === null) return reviewed;
      return { ...reviewed, text: await hookCalls.ask(caller, hook, await subject.describe(reviewed.text)) };
    },
  };
}

async function judged(rules: TextRules, text: string, { roleOf }: Subject): Promise<Reviewed> {
  if (rules.links !== 'allowed' && hasLink(text)) {
    const role = rules.links === 'moderators' ? await roleOf() : null;
    if (role === null || !roleCan(role, 'moderate')) {
      fail('SVC_MESSAGE_REJECTED', { by: 'links', reason: 'Links are not allowed here.' });
    }
  }
  const verdict = await judge(rules, text);
  if (verdict.is === 'rejected') return fail('SVC_MESSAGE_REJECTED', { by: 'words', reason: null });
  return { text: verdict.text, flaggedBy: verdict.flaggedBy };
}
