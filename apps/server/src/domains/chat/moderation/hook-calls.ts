import { fail, type Limits } from '@parley/contract';
import type { ChatTokenCaller, ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Ids } from '../../../core/ids.ts';
import { type AsksBackends, signingSecrets } from './hook.ts';
import type { StoredHook } from './hook-store.ts';

interface HookCallDeps {
  clock: Clock;
  ids: Ids;
  limits: Limits;
  callouts: AsksBackends;
}

/** What the backend is asked about; `message.text` comes back as it wants it. */
export interface HookQuestion {
  action: 'send' | 'edit';
  conversationId: string;
  senderId: string;
  messageId: string | null;
  message: { type: string | null; text: string | null; [field: string]: unknown };
}

export interface HookCalls {
  /** The text that may be sent. */
  ask(caller: ChatTokenCaller, hook: StoredHook, question: HookQuestion): Promise<string | undefined>;
}

/** At once, of an environment and process: one slow backend must not hold the sockets of all. */
const runningMax = 50;
/** So many failures in a row, and it is not called for a while; then one call tries it. */
const failuresMax = 5;
const breakerOpenMs = 10_000;

interface Line {
  running: number;
  failures: number;
  breakerOpenUntil: number;
}

type Decision = { action: 'allow' } | { action: 'change'; text: string } | { action: 'refuse'; reason: string | null };

export function createHookCalls({ clock, ids, limits, callouts }: HookCallDeps): HookCalls {
  const lines = new Map<string, Line>();
  const lineOf = ({ projectId, environment }: ProjectScope): Line => {
    const key = `${projectId}/${environment}`;
    const line = lines.get(key) ?? { running: 0, failures: 0, breakerOpenUntil: 0 };
    lines.set(key, line);
    return line;
  };

  function read(text: string | null): Decision | null {
    if (text === null) return null;
    try {
      const { action, text: changed, reason } = JSON.parse(text) as Record<string, unknown>;
      if (action === 'allow') return { action };
      if (action === 'refuse') return { action, reason: typeof reason === 'string' ? reason.slice(0, 256) : null };
      const fits = typeof changed === 'string' && [...changed].length <= limits.CHAT_MAX_TEXT_LENGTH;
      return action === 'change' && fits && changed.isWellFormed() && !changed.includes('\u0000')
        ? { action, text: changed }
        : null;
    } catch {
      return null;
    }
  }

  async function call(caller: ChatTokenCaller, hook: StoredHook, question: HookQuestion): Promise<Decision | null> {
    const line = lineOf(caller);
    const isBreakerOpen = line.failures >= failuresMax && clock.elapsed() < line.breakerOpenUntil;
    if (isBreakerOpen || line.running >= runningMax) return null;
    // While it is tried again, the others go on as before.
    if (line.failures >= failuresMax) line.breakerOpenUntil = clock.elapsed() + breakerOpenMs;
    line.running++;
    try {
      const { url, timeoutMs } = hook;
      const { projectId, environment } = caller;
      const decision = read(
        await callouts.ask({
          id: ids.newId('event'),
          type: 'message.pre_send',
          projectId,
          environment,
          createdAt: iso(clock.now()),
          url,
          data: JSON.stringify(question),
          sealedSecrets: signingSecrets(hook, clock.now()),
          timeoutMs,
        }),
      );
      line.failures = decision === null ? line.failures + 1 : 0;
      if (line.failures >= failuresMax) line.breakerOpenUntil = clock.elapsed() + breakerOpenMs;
      return decision;
    } finally {
      line.running--;
    }
  }

  return {
    async ask(caller, hook, question) {
      const decision = await call(caller, hook, question);
      const { text } = question.message;
      if (decision === null && hook.onFailure === 'closed') {
        fail('SVC_SERVICE_UNAVAILABLE', { retryAfterSeconds: 5, message: 'The moderation hook did not answer.' });
      }
      if (decision?.action === 'refuse') fail('SVC_MESSAGE_REJECTED', { by: 'hook', reason: decision.reason });
      return decision?.action === 'change' ? decision.text : (text ?? undefined);
    },
  };
}
