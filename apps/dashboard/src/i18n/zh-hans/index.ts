import type { Catalogue } from '../catalogue.ts';
import { accounts } from './accounts.ts';
import { alerts } from './alerts.ts';
import { audit } from './audit.ts';
import { calls } from './calls.ts';
import { chat } from './chat.ts';
import { dataJobs } from './data-jobs.ts';
import { fleet } from './fleet.ts';
import { frame } from './frame.ts';
import { kit } from './kit.ts';
import { liveStreams } from './live-streams.ts';
import { moderation } from './moderation.ts';
import { observability } from './observability.ts';
import { overview } from './overview.ts';
import { projects } from './projects.ts';
import { push } from './push.ts';
import { requests } from './requests.ts';
import { rooms } from './rooms.ts';
import { testCall } from './test-call.ts';
import { usage } from './usage.ts';
import { users } from './users.ts';
import { webhooks } from './webhooks.ts';
import { words } from './words.ts';

export const zhHans: Catalogue = {
  ...accounts,
  ...alerts,
  ...audit,
  ...calls,
  ...chat,
  ...dataJobs,
  ...fleet,
  ...frame,
  ...kit,
  ...liveStreams,
  ...moderation,
  ...observability,
  ...overview,
  ...projects,
  ...push,
  ...requests,
  ...rooms,
  ...testCall,
  ...usage,
  ...users,
  ...webhooks,
  ...words,
};
