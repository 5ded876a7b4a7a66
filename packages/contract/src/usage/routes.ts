import { routes } from '../route.ts';
import { Usage, UsageDetail, UsageQuery } from './schemas.ts';

export const usageRoutes = routes({
  getUsage: {
    at: 'GET /v1/usage',
    sdk: 'usage.get',
    scope: 'read',
    by: ['session', 'apiKey'],
    returns: [200, Usage],
    does: "Reads the free RTC minutes and what is spent of them: over all projects a signed-in caller owns, or the API key's own project.",
  },
  getUsageDetail: {
    at: 'GET /v1/usage/detail',
    by: ['session'],
    query: UsageQuery,
    returns: [200, UsageDetail],
    does: 'Adds the session history, the daily rollup in UTC and the split by project.',
  },
  getProjectUsage: {
    at: 'GET /v1/projects/{projectId}/usage',
    by: ['session'],
    needs: 'usage:read',
    query: UsageQuery,
    returns: [200, UsageDetail],
    does: "Reads one project's usage with its session history and daily rollup.",
  },
});
