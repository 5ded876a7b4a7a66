import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';

/** Who may register here: a setting of the instance, so asked once. */
export const registrationQuery = (anonymous: Api) =>
  queryOptions({
    queryKey: ['registration'],
    queryFn: () => anonymous.call('getRegistration'),
    staleTime: Number.POSITIVE_INFINITY,
  });
