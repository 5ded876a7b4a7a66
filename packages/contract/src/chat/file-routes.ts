import { routes } from '../route.ts';
import { LinkPreviewSettings, ScanResult, SetScanHook } from './file-schemas.ts';
import { ModerationHook, NewModerationHook } from './moderation-schemas.ts';
import { Attachment } from './schemas.ts';

const key = ['apiKey'] as const;
const byServers = { scope: 'chat', by: key, budget: 600 } as const;

/** What an environment wants done with files and links. */
export const chatFileRoutes = routes({
  getScanHook: {
    at: 'GET /v1/chat/scan-hook',
    sdk: 'chat.attachments.scanHook',
    scope: 'chat',
    by: key,
    returns: [200, ModerationHook],
    throws: ['SVC_HOOK_NOT_FOUND'],
    does: 'Reads the scan hook of the environment.',
  },
  setScanHook: {
    at: 'PUT /v1/chat/scan-hook',
    sdk: 'chat.attachments.setScanHook',
    ...byServers,
    audit: 'chat.moderation_updated',
    body: SetScanHook,
    returns: [200, NewModerationHook],
    throws: ['SVC_INVALID_WEBHOOK_URL'],
    does: 'Sets the scan hook: a signed call to your scanner with a link to each file that is completed from now on. Until it has answered nobody else can fetch the file. The first answer is the only one that shows its secret.',
  },
  rotateScanHook: {
    at: 'POST /v1/chat/scan-hook/rotate-secret',
    sdk: 'chat.attachments.rotateScanHookSecret',
    ...byServers,
    audit: 'chat.moderation_updated',
    returns: [200, NewModerationHook],
    throws: ['SVC_HOOK_NOT_FOUND'],
    does: 'Makes a new secret for the scan hook, and shows it once. Calls are signed with the one before too for 24 hours.',
  },
  removeScanHook: {
    at: 'DELETE /v1/chat/scan-hook',
    sdk: 'chat.attachments.removeScanHook',
    ...byServers,
    audit: 'chat.moderation_updated',
    returns: [204, null],
    does: 'Removes the scan hook. Files that wait for it can be fetched from then on.',
  },
  setScanResult: {
    at: 'POST /v1/chat/attachments/{attachmentId}/scan-result',
    sdk: 'chat.attachments.setScanResult',
    ...byServers,
    audit: 'chat.attachment_scanned',
    body: ScanResult,
    returns: [200, Attachment],
    throws: ['SVC_ATTACHMENT_NOT_FOUND', 'SVC_ATTACHMENT_NOT_READY'],
    does: 'Says what a scan found, where the hook answered that it takes longer, or on any other day: a later result replaces the one before.',
  },
  getLinkPreviews: {
    at: 'GET /v1/chat/link-previews',
    sdk: 'chat.linkPreviews.get',
    scope: 'chat',
    by: key,
    returns: [200, LinkPreviewSettings],
    does: 'Reads whether messages of the environment get previews of their links.',
  },
  setLinkPreviews: {
    at: 'PUT /v1/chat/link-previews',
    sdk: 'chat.linkPreviews.set',
    ...byServers,
    audit: 'chat.moderation_updated',
    body: LinkPreviewSettings,
    returns: [200, LinkPreviewSettings],
    does: 'Turns previews of links on or off; they are off at first. The service then fetches the first link of each message that is sent from now on.',
  },
});
