import type { Attachment, AttachmentScan, ScanResult } from '@parley/contract';
import { fail } from '@parley/contract';
import type { ApiKeyCaller, ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Log } from '../../../core/log.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import { findAttachment } from '../attachments/attachment-store.ts';
import type { Attachments } from '../attachments/attachments.ts';
import { scannersForm } from '../attachments/forms.ts';
import { lockEntry } from '../conversations/conversation-store.ts';
import { topicOf } from '../live/change.ts';
import type { Refresh } from '../messages/refresh.ts';
import type { Environments } from '../moderation/environments.ts';
import { type AsksBackends, signingSecrets } from '../moderation/hook.ts';
import { findHook, type StoredHook } from '../moderation/hook-store.ts';
import { createTriggeredWork } from '../upkeep/triggered-work.ts';
import {
  claimScans,
  type EndingFile,
  endScan,
  isScanDue,
  listCopies,
  makeScansDue,
  postponeScan,
  type ScannedFile,
} from './scan-store.ts';

interface ScanDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  unitOfWork: UnitOfWork;
  environments: Environments;
  callouts: AsksBackends;
  refresh: Refresh;
  attachments: Pick<Attachments, 'linkTo'>;
}

const linkSeconds = 900;
const claimMs = 60_000;
const batchMax = 10;
const minuteMs = 60_000;
/** After each try without an answer. */
const pausesMs = [10_000, minuteMs, 5 * minuteMs, 30 * minuteMs];
/** A scanner that answers 'PENDING' says the rest by itself; it is asked again if it does not. */
const laterMs = 60 * minuteMs;
const reasonMax = 256;

interface Verdict {
  result: 'CLEAN' | 'REJECTED' | 'PENDING';
  reason: string | null;
}

interface Ending {
  scan: AttachmentScan;
  reason: string | null;
  isOfHook: boolean;
}

/** Asks the customer's scanner about each file before anybody else can fetch it (ADR 0217). */
export function createScans(deps: ScanDeps) {
  const { db, clock, ids, log, unitOfWork, environments, callouts, refresh, attachments } = deps;

  async function ask(file: ScannedFile, hook: StoredHook): Promise<Verdict | null> {
    const { id: attachmentId, conversationId, uploaderId, filename, mimeType, size, checksum } = file;
    const now = clock.now();
    const link = {
      url: await attachments.linkTo(file, linkSeconds, scannersForm),
      expiresAt: iso(now + linkSeconds * 1000),
    };
    const answer = await callouts.ask({
      id: ids.newId('event'),
      type: 'attachment.scan',
      projectId: file.projectId,
      environment: file.environment,
      createdAt: iso(now),
      url: hook.url,
      data: JSON.stringify({
        attachmentId,
        conversationId,
        uploaderId,
        filename,
        mimeType,
        size: Number(size),
        checksum,
        ...link,
      }),
      sealedSecrets: signingSecrets(hook, now),
      timeoutMs: hook.timeoutMs,
    });
    return verdictIn(answer);
  }

  /** For every message that has the file: it is fetched by none of them. True for the first who says so. */
  async function end(file: EndingFile, verdict: Ending): Promise<boolean> {
    const isNew = await endOne(file, verdict);
    // A forward of it meanwhile either has waited for this, or is found here.
    for (const copy of await listCopies(db, file.id, file.blobKey)) await endOne(copy, verdict);
    return isNew;
  }

  function endOne(file: EndingFile, verdict: Ending): Promise<boolean> {
    return unitOfWork(file, async (tx, emit) => {
      if (!(await lockEntry(tx, file, file.conversationUuid, null))) return false;
      const ended = await endScan(tx, file.id, verdict);
      if (!ended) return false;
      const { id: attachmentId, conversationId } = file;
      const { scan: result, reason } = verdict;
      const data = { attachmentId, conversationId, ...ended, result, reason, at: iso(clock.now()) };
      emit({ type: 'attachment.scanned', topic: topicOf(conversationId), data });
      if (ended.messageId) await refresh(tx, emit, file, ended.messageId);
      return true;
    });
  }

  async function attempt(file: ScannedFile): Promise<void> {
    // What a process remembers may be a second old: that there is none is asked of the store.
    const hook = (await environments.get(file)).scan ?? (await findHook(db, 'scan', file));
    const skip = () => end(file, { scan: 'SKIPPED', reason: null, isOfHook: true });
    if (!hook) return void (await skip());
    const verdict = await ask(file, hook);
    if (verdict && verdict.result !== 'PENDING')
      return void (await end(file, { scan: verdict.result, reason: verdict.reason, isOfHook: true }));
    const pause = pausesMs[file.tries - 1];
    if (pause !== undefined) return postponeScan(db, file.id, iso(clock.now() + (verdict ? laterMs : pause)));
    log.warn({ attachment: file.id }, 'a scanner never answered for a file');
    if (hook.onFailure === 'open') await skip();
    // It waits for `scan-result`.
    else await postponeScan(db, file.id, null);
  }

  async function setResult(caller: ApiKeyCaller, id: string, body: ScanResult): Promise<Answer<Attachment>> {
    const found = (await findAttachment(db, caller, id, null)) ?? fail('SVC_ATTACHMENT_NOT_FOUND');
    if (found.status === 'EXPIRED') fail('SVC_ATTACHMENT_NOT_FOUND');
    if (found.status === 'PENDING') fail('SVC_ATTACHMENT_NOT_READY');
    const { result, reason = null } = body;
    const isNew = await end({ ...found, projectId: caller.projectId }, { scan: result, reason, isOfHook: false });
    const shown = (await findAttachment(db, caller, id, null)) ?? fail('SVC_ATTACHMENT_NOT_FOUND');
    const { environment } = caller;
    return recorded(shown, isNew ? { resourceId: id, environment, metadata: { result } } : null);
  }

  return {
    ...createTriggeredWork(deps, {
      what: 'scanning of files',
      claimMs,
      batchMax,
      claim: (range) => claimScans(db, range),
      isAnyDue: isScanDue,
      attempt: (due) => Promise.all(due.map(attempt)),
    }),
    setResult,
    isWanted: async (scope: ProjectScope): Promise<boolean> => (await environments.get(scope)).scan !== null,
    hurry: (scope: ProjectScope): Promise<void> => makeScansDue(db, scope, iso(clock.now())),
  };
}

function verdictIn(answer: string | null): Verdict | null {
  if (answer === null) return null;
  try {
    const { result, reason } = JSON.parse(answer) as Record<string, unknown>;
    if (result !== 'CLEAN' && result !== 'REJECTED' && result !== 'PENDING') return null;
    const isText = typeof reason === 'string' && reason.isWellFormed() && !reason.includes('\u0000');
    return { result, reason: isText ? reason.slice(0, reasonMax) : null };
  } catch {
    return null;
  }
}
