import { chatDraftRoutes } from './draft-routes.ts';
import { chatPinRoutes } from './pin-routes.ts';
import { chatPollRoutes } from './poll-routes.ts';
import { chatScheduledRoutes } from './scheduled-routes.ts';
import { chatSearchRoutes } from './search-routes.ts';

/** What is done with messages beside sending and reading them. */
export const chatContentRoutes = {
  ...chatSearchRoutes,
  ...chatScheduledRoutes,
  ...chatPinRoutes,
  ...chatPollRoutes,
  ...chatDraftRoutes,
} as const;
