import type { chatFileRoutes, fileDashboardRoutes, SetScanHook } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Handlers } from '../../core/handlers.ts';
import type { Chore } from '../../core/timers.ts';
import { createAttachments } from './attachments/attachments.ts';
import type { createLinks } from './links/links.ts';
import { createMedia } from './media/media.ts';
import { createMediaProcessor } from './media/processor.ts';
import { createHookSettings } from './moderation/hook.ts';
import { createScans } from './scan/scan.ts';

type DepsOf<Create extends (deps: never) => unknown> = Parameters<Create>[0];

type FileDeps = Omit<DepsOf<typeof createAttachments>, 'isScanned' | 'onCompleted'> &
  Omit<DepsOf<typeof createMedia>, 'processor'> &
  Omit<DepsOf<typeof createScans>, 'attachments'> &
  Parameters<typeof createHookSettings>[0] & { links: ReturnType<typeof createLinks> };

/** Files of messages and what is found out about them, and about links. */
export function createFiles(deps: FileDeps) {
  const { links } = deps;
  const media = createMedia({ ...deps, processor: createMediaProcessor(deps) });
  const attachments = createAttachments({
    ...deps,
    isScanned: (scope) => scans.isWanted(scope),
    onCompleted({ isMedia, isScanned }) {
      if (isMedia) media.trigger();
      if (isScanned) scans.trigger();
    },
  });
  const scans = createScans({ ...deps, attachments });
  const hook = createHookSettings(deps, 'scan');

  const setScan = (scope: ProjectScope, body: SetScanHook) =>
    hook.set(scope, { timeoutMs: scanTimeoutMs, onFailure: 'closed', ...body });
  async function removeScan(scope: ProjectScope) {
    const answer = await hook.remove(scope);
    await scans.hurry(scope);
    scans.trigger();
    return answer;
  }

  const handlers: Handlers<typeof chatFileRoutes> & Handlers<typeof fileDashboardRoutes> = {
    getScanHook: ({ caller }) => hook.get(caller),
    setScanHook: ({ caller, body }) => setScan(caller, body),
    rotateScanHook: ({ caller }) => hook.rotate(caller),
    removeScanHook: ({ caller }) => removeScan(caller),
    setProjectScanHook: ({ caller, body }) => setScan(caller, body),
    rotateProjectScanHook: ({ caller }) => hook.rotate(caller),
    removeProjectScanHook: ({ caller }) => removeScan(caller),
    setProjectLinkPreviews: ({ caller, body }) => links.set(caller, body),
    setScanResult: ({ caller, params, body }) => scans.setResult(caller, params.attachmentId, body),
    getLinkPreviews: ({ caller }) => links.get(caller),
    setLinkPreviews: ({ caller, body }) => links.set(caller, body),
  };
  const alone = { onDatabaseAlone: true } as const;
  const chores: Chore[] = [
    { name: 'chat-attachments', everyMs: 60_000, run: attachments.sweep, ...alone },
    { name: 'chat-media', everyMs: 5_000, run: media.run, isDue: media.isDue, ...alone },
    { name: 'chat-scans', everyMs: 5_000, run: scans.run, isDue: scans.isDue, ...alone },
    { name: 'chat-scan-secrets', everyMs: 600_000, run: hook.renewSealed, ...alone },
    { name: 'chat-links', everyMs: 5_000, run: links.run, isDue: links.isDue, ...alone },
    { name: 'chat-links-lost', everyMs: 600_000, run: links.sweep, ...alone },
  ];
  return {
    attachments,
    handlers,
    chores,
    sweep: { attachments: attachments.sweep, media: media.run, scans: scans.run, links: links.run },
    async stop(): Promise<void> {
      await Promise.all([media.stop(), scans.stop(), links.stop()]);
    },
  };
}

const scanTimeoutMs = 5_000;
