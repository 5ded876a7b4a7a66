import { Type } from 'typebox';
import { routes } from '../route.ts';
import { EnvironmentQuery } from '../schema.ts';
import { LinkPreviewSettings, SetScanHook } from './file-schemas.ts';
import { NewModerationHook } from './moderation-schemas.ts';

const managing = { by: ['session'], needs: 'chat:manage', query: Type.Object(EnvironmentQuery) } as const;
const audit = 'chat.moderation_updated' as const;

/** What people who are signed in to the dashboard decide about files and links; `getProjectModeration` shows it. */
export const fileDashboardRoutes = routes({
  setProjectScanHook: {
    at: 'PUT /v1/projects/{projectId}/chat/scan-hook',
    ...managing,
    stepUp: 'inProduction',
    audit,
    body: SetScanHook,
    returns: [200, NewModerationHook],
    throws: ['SVC_INVALID_WEBHOOK_URL'],
    does: 'Sets the scan hook. The first answer is the only one that shows its secret.',
  },
  rotateProjectScanHook: {
    at: 'POST /v1/projects/{projectId}/chat/scan-hook/rotate-secret',
    ...managing,
    stepUp: 'withFactor',
    audit,
    returns: [200, NewModerationHook],
    throws: ['SVC_HOOK_NOT_FOUND'],
    does: 'Makes a new secret for the scan hook, and shows it once. Both secrets sign for 24 hours.',
  },
  removeProjectScanHook: {
    at: 'DELETE /v1/projects/{projectId}/chat/scan-hook',
    ...managing,
    stepUp: 'inProduction',
    audit,
    returns: [204, null],
    does: 'Removes the scan hook. Files that wait for it can be fetched from then on.',
  },
  setProjectLinkPreviews: {
    at: 'PUT /v1/projects/{projectId}/chat/link-previews',
    ...managing,
    audit,
    body: LinkPreviewSettings,
    returns: [200, LinkPreviewSettings],
    does: 'Turns previews of links on or off for the environment.',
  },
});
