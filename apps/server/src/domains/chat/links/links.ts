import type { LinkPreview, LinkPreviewSettings } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { deleteInBatches, type Turn } from '../../../core/delete-in-batches.ts';
import { type Answer, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Log } from '../../../core/log.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import { lockEntry } from '../conversations/conversation-store.ts';
import type { Refresh } from '../messages/refresh.ts';
import { findSettings, setLinkPreviews } from '../moderation/environment-store.ts';
import type { Environments } from '../moderation/environments.ts';
import type { ChatStanding } from '../moderation/standing.ts';
import { createTriggeredWork } from '../upkeep/triggered-work.ts';
import { linkIn } from './link-in.ts';
import { type ClaimedLink, claimLinks, deleteLost, endLink, isLinkDue } from './link-store.ts';
import { previewIn, textOf } from './open-graph.ts';

/** What chat asks of webhooks: a page, from an address that they may reach. */
export interface FetchesPages {
  fetch(
    url: string,
    environment: ProjectScope['environment'],
  ): Promise<{ url: string; contentType: string; body: Buffer } | null>;
  isAllowed(url: string, environment: ProjectScope['environment']): boolean;
}

interface LinkDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  unitOfWork: UnitOfWork;
  environments: Environments;
  chatStanding: Pick<ChatStanding, 'announce'>;
  pages: FetchesPages;
  refresh: Refresh;
}

export type Links = ReturnType<typeof createLinks>;

const claimMs = 30_000;
const batchMax = 8;
const triesMax = 2;

/** Previews of the links in messages, for environments that want them (ADR 0218). */
export function createLinks(deps: LinkDeps) {
  const { db, clock, ids, unitOfWork, environments, chatStanding, pages, refresh } = deps;

  async function previewOf({ url, environment }: ClaimedLink): Promise<LinkPreview | null> {
    const page = await pages.fetch(url, environment);
    const found = page && previewIn(textOf(page.body, page.contentType), page.url);
    if (!found) return null;
    const isShown = found.imageUrl !== null && pages.isAllowed(found.imageUrl, environment);
    return { url, ...found, imageUrl: isShown ? found.imageUrl : null };
  }

  async function attempt(link: ClaimedLink): Promise<void> {
    const { linkPreviews } = await environments.get(link);
    const preview = linkPreviews ? await previewOf(link) : null;
    // Its claim runs out, and it is tried once more.
    if (preview === null && linkPreviews && link.tries < triesMax) return;
    await unitOfWork(link, async (tx, emit) => {
      if (!(await lockEntry(tx, link, link.conversationUuid, null))) return;
      if ((await endLink(tx, link)) && preview) await refresh(tx, emit, link, link.messageId, preview);
    });
  }

  return {
    ...createTriggeredWork(deps, {
      what: 'previews of links',
      claimMs,
      batchMax,
      claim: (range) => claimLinks(db, range),
      isAnyDue: isLinkDue,
      attempt: (due) => Promise.all(due.map(attempt)),
    }),
    /** The link of a text that wants a preview. Texts without one ask nothing. */
    async wantedOf(scope: ProjectScope, text: string | undefined): Promise<string | undefined> {
      const link = text === undefined ? undefined : linkIn(text);
      return link !== undefined && (await environments.get(scope)).linkPreviews ? link : undefined;
    },
    sweep: (turn: Turn) => deleteInBatches({ turn }, (limit) => deleteLost(db, limit)),
    get: async (caller: ProjectScope): Promise<LinkPreviewSettings> => ({
      enabled: (await findSettings(db, caller))?.linkPreviews ?? false,
    }),
    async set(caller: ProjectScope, { enabled }: LinkPreviewSettings): Promise<Answer<LinkPreviewSettings>> {
      await setLinkPreviews(db, caller, { isOn: enabled, revision: ids.newUuid(), at: iso(clock.now()) });
      chatStanding.announce(caller);
      const { projectId, environment } = caller;
      return recorded({ enabled }, { resourceId: projectId, environment, metadata: { linkPreviews: enabled } });
    },
  };
}
