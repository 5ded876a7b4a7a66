import type { ModerationSettings, SetModeration } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import { refuse } from '../../../core/validation.ts';
import { findSettings, type StoredSettings, upsertSettings } from './environment-store.ts';
import { compileLists } from './rules.ts';
import type { ChatStanding } from './standing.ts';

interface SettingsDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  chatStanding: Pick<ChatStanding, 'announce'>;
}

export type Settings = ReturnType<typeof createSettings>;

export function createSettings({ db, clock, ids, chatStanding }: SettingsDeps) {
  const show = (settings: StoredSettings | undefined): ModerationSettings => ({
    wordLists: settings?.wordLists ?? [],
    links: settings?.links ?? 'allowed',
    updatedAt: settings?.updatedAt ?? null,
  });

  return {
    get: async (caller: ProjectScope): Promise<ModerationSettings> => show(await findSettings(db, caller)),

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
      const draft = { revision: ids.newUuid(), wordLists, links, at: iso(clock.now()) };
      const settings = await upsertSettings(db, caller, draft);
      chatStanding.announce(caller);
      const { projectId, environment } = caller;
      const metadata = { links, wordLists: names };
      return recorded(show(settings), { resourceId: projectId, environment, metadata });
    },
  };
}
