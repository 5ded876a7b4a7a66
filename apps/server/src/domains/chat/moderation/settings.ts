import type { ModerationOverview, ModerationSettings, ModerationSummary, SetModeration } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import { refuse } from '../../../core/validation.ts';
import { findSettings, type StoredSettings, upsertSettings } from './environment-store.ts';
import { compileLists } from './rules.ts';
import type { ChatStanding } from './standing.ts';

interface SettingsDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  unitOfWork: UnitOfWork;
  chatStanding: Pick<ChatStanding, 'announce'>;
}

export type Settings = ReturnType<typeof createSettings>;

export function createSettings({ db, clock, ids, unitOfWork, chatStanding }: SettingsDeps) {
  const show = (settings: StoredSettings | undefined): ModerationSettings => ({
    wordLists: settings?.wordLists ?? [],
    links: settings?.links ?? 'allowed',
    updatedAt: settings?.updatedAt ?? null,
  });

  return {
    get: async (caller: ProjectScope): Promise<ModerationSettings> => show(await findSettings(db, caller)),
    /** With what else is set there, for the dashboard. */
    async getAll(caller: ProjectScope): Promise<Omit<ModerationOverview, 'hook' | 'scan'>> {
      const settings = await findSettings(db, caller);
      return { ...show(settings), linkPreviews: settings?.linkPreviews ?? false };
    },

    /** The whole of them: what is left out is as if it had never been set. */
    async set(
      caller: ProjectScope,
      { wordLists = [], links = 'allowed' }: SetModeration,
    ): Promise<Answer<ModerationSettings>> {
      const names = wordLists.map(({ name }) => name);
      const twice = names.findIndex((name, at) => names.indexOf(name) < at);
      if (twice !== -1)
        refuse([{ field: `wordLists/${twice}/name`, rule: 'unique', message: 'Two lists have the same name.' }]);
      compileLists(wordLists);
      const at = iso(clock.now());
      const draft = { revision: ids.newUuid(), wordLists, links, at };
      const settings = await unitOfWork(caller, async (tx, emit) => {
        const stored = await upsertSettings(tx, caller, draft);
        emit({ type: 'moderation.updated', data: { settings: summaryOf(stored), at } });
        return stored;
      });
      chatStanding.announce(caller);
      const { projectId, environment } = caller;
      const metadata = { links, wordLists: names };
      return recorded(show(settings), { resourceId: projectId, environment, metadata });
    },
  };
}

/** The words are what nobody is to read by accident, and may be megabytes. */
const summaryOf = ({ wordLists, links }: StoredSettings): ModerationSummary => ({
  links,
  wordLists: wordLists.map(({ name, action, words = [], patterns = [] }) => ({
    name,
    action,
    words: words.length,
    patterns: patterns.length,
  })),
});
