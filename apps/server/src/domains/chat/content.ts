import type { chatContentRoutes, Limits } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Cursors } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import type { Handlers } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { ReplicatedReads } from '../../core/replicated-reads.ts';
import type { Chore } from '../../core/timers.ts';
import type { UnitOfWork } from '../../core/unit-of-work.ts';
import type { Entries } from './conversations/entries.ts';
import type { Devices } from './drafts/devices.ts';
import { createDrafts, draftHandlers } from './drafts/drafts.ts';
import type { Forwards } from './forwards/forwards.ts';
import type { Hub } from './live/hub.ts';
import type { Messages } from './messages/edit.ts';
import type { Sends } from './messages/send.ts';
import { createPins, pinHandlers } from './pins/pins.ts';
import { type Polls, pollHandlers } from './polls/polls.ts';
import { createScheduled, scheduledHandlers } from './scheduled/scheduled.ts';
import { createScheduledSender } from './scheduled/sender.ts';
import { createIndexer } from './search/indexer.ts';
import { createSearch } from './search/search.ts';
import type { StandingOfUsers } from './tokens.ts';

interface ContentDeps {
  db: Db;
  replicated: ReplicatedReads;
  clock: Clock;
  ids: Ids;
  log: Log;
  cursors: Cursors;
  limits: Limits;
  unitOfWork: UnitOfWork;
  standing: StandingOfUsers;
  entries: Entries;
  forwards: Forwards;
  sends: Sends;
  messages: Messages;
  hub: Hub;
  devices: Devices;
  polls: Polls;
}

/** What is done with messages beside sending and reading them. */
export function createContent(deps: ContentDeps) {
  const search = createSearch(deps);
  const indexer = createIndexer({ ...deps, search });
  const scheduled = createScheduled(deps);
  const sender = createScheduledSender(deps);

  const handlers: Handlers<typeof chatContentRoutes> = {
    searchMessages: ({ caller, query }) => search.search(caller, query),
    ...scheduledHandlers(scheduled),
    ...pinHandlers(createPins(deps)),
    ...pollHandlers(deps.polls),
    ...draftHandlers(createDrafts(deps)),
  };
  const alone = { onDatabaseAlone: true } as const;
  const chores: Chore[] = [
    { name: 'chat-search', everyMs: 1_000, run: indexer.run, isDue: indexer.isDue, ...alone },
    { name: 'chat-scheduled', everyMs: 1_000, run: sender.run, isDue: sender.isDue, ...alone },
    { name: 'chat-polls', everyMs: 1_000, run: deps.polls.closeDue, isDue: deps.polls.isDue, ...alone },
    { name: 'chat-scheduled-over', everyMs: 600_000, run: sender.forget, ...alone },
  ];

  return { handlers, chores, sweep: { search: indexer.run, scheduled: sender.run, polls: deps.polls.closeDue } };
}
