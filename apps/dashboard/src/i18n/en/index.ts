import { accounts } from './accounts.ts';
import { audit } from './audit.ts';
import { calls } from './calls.ts';
import { chat } from './chat.ts';
import { fleet } from './fleet.ts';
import { frame } from './frame.ts';
import { kit } from './kit.ts';
import { liveStreams } from './live-streams.ts';
import { observability } from './observability.ts';
import { overview } from './overview.ts';
import { requests } from './requests.ts';
import { rooms } from './rooms.ts';
import { webhooks } from './webhooks.ts';
import { words } from './words.ts';

/** What the first load brings: the source of its texts and of the types of their keys. A folder of pages is a file. */
export const en = {
  ...accounts,
  ...audit,
  ...calls,
  ...chat,
  ...fleet,
  ...frame,
  ...kit,
  ...liveStreams,
  ...observability,
  ...overview,
  ...requests,
  ...rooms,
  ...webhooks,
  ...words,
} as const;
