import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { untilTold } from '../data/queries.ts';

export const fleetKeys = { all: ['fleet'] as const, list: ['fleet', 'servers'] as const };

export const serversQuery = (api: Api) =>
  queryOptions({
    queryKey: fleetKeys.list,
    queryFn: ({ signal }) => api.call('listServers', undefined, { signal }),
    refetchInterval: untilTold,
  });

export const totalsQuery = (api: Api) =>
  queryOptions({
    queryKey: ['fleet', 'totals'],
    queryFn: ({ signal }) => api.call('getFleetTotals', undefined, { signal }),
    refetchInterval: untilTold,
  });

export const serverQuery = (api: Api, name: string) =>
  queryOptions({
    queryKey: ['fleet', 'server', name],
    queryFn: ({ signal }) => api.call('getServer', { name }, { signal }),
    refetchInterval: untilTold,
  });
