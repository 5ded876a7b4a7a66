export type { InboxBadge, InboxEntry } from '@parley/contract/types.gen';
export type { Store } from '../store.ts';
export { createInbox } from './inbox.ts';
export type { Inbox, InboxOptions, InboxState } from './types.ts';
