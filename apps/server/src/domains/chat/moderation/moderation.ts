import type { Chore } from '../../../core/timers.ts';
import type { Shadow } from '../shadow/shadow.ts';
import { createAdmission } from './admission.ts';
import { createDeletions } from './deletions.ts';
import { createEnvironments } from './environments.ts';
import { createFlags } from './flags.ts';
import { createModerationHandlers } from './handlers.ts';
import { createHookSettings } from './hook.ts';
import { createHookCalls } from './hook-calls.ts';
import { createReports } from './reports.ts';
import { createReview } from './review.ts';
import { createSanctions } from './sanctions.ts';
import { createSettings } from './settings.ts';
import { createChatStanding } from './standing.ts';

type DepsOf<Create extends (deps: never) => unknown> = Parameters<Create>[0];

type GateDeps = DepsOf<typeof createEnvironments> &
  Omit<DepsOf<typeof createChatStanding>, 'environments'> &
  Omit<DepsOf<typeof createAdmission>, 'chatStanding'> &
  DepsOf<typeof createFlags> &
  DepsOf<typeof createHookCalls>;

/** What everybody who speaks or comes in has to pass. */
export function createGate(deps: GateDeps) {
  const environments = createEnvironments(deps);
  const chatStanding = createChatStanding({ ...deps, environments });
  return {
    environments,
    chatStanding,
    admission: createAdmission({ ...deps, chatStanding }),
    flags: createFlags(deps),
    review: createReview({ environments, hookCalls: createHookCalls(deps) }),
  };
}

type ModerationDeps = DepsOf<typeof createSanctions> &
  Omit<DepsOf<typeof createReports>, 'sanctions'> &
  DepsOf<typeof createDeletions> &
  DepsOf<typeof createHookSettings> &
  DepsOf<typeof createSettings> &
  Pick<ReturnType<typeof createGate>, 'chatStanding' | 'flags'> & { shadow: Pick<Shadow, 'list'> };

/** What moderators and backends do: sanctions, settings, the hook, reports, deletions. */
export function createModeration(deps: ModerationDeps) {
  const { chatStanding, flags, shadow } = deps;
  const sanctions = createSanctions(deps);
  const reports = createReports({ ...deps, sanctions });
  const deletions = createDeletions(deps);
  const hook = createHookSettings(deps);
  const alone = { onDatabaseAlone: true } as const;
  const chores: Chore[] = [
    { name: 'chat-bans', everyMs: 1_500, run: chatStanding.cutOffBanned, onEveryProcess: true },
    { name: 'chat-sanctions', everyMs: 60 * 60_000, run: sanctions.sweep, ...alone },
    { name: 'chat-flags', everyMs: 60_000, run: flags.sweep, ...alone },
    { name: 'chat-reports', everyMs: 60 * 60_000, run: reports.sweep, ...alone },
    { name: 'chat-hook-secrets', everyMs: 600_000, run: hook.renewSealed, ...alone },
    { name: 'chat-deletions', everyMs: 1_000, run: deletions.run, isDue: deletions.isDue, ...alone },
    { name: 'chat-deletions-done', everyMs: 60 * 60_000, run: deletions.sweep, ...alone },
  ];
  return {
    handlers: createModerationHandlers({
      sanctions,
      reports,
      hook,
      scan: createHookSettings(deps, 'scan'),
      deletions,
      shadow,
      settings: createSettings(deps),
    }),
    chores,
    sweep: { flags: flags.sweep, deletions: deletions.run },
  };
}
