import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { inTurns, pollUnlessFed } from '../data/queries.ts';

export const fleetKeys = { all: ['fleet'] as const, list: ['fleet', 'servers'] as const };

export const serversQuery = (api: Api) =>
  queryOptions({
    queryKey: fleetKeys.list,
    queryFn: ({ signal }) => api.call('listServers', undefined, { signal }),
    refetchInterval: pollUnlessFed,
  });

export const totalsQuery = (api: Api) =>
  queryOptions({
    queryKey: ['fleet', 'totals'],
    queryFn: ({ signal }) => api.call('getFleetTotals', undefined, { signal }),
    refetchInterval: pollUnlessFed,
  });

export const serverQuery = (api: Api, name: string) =>
  queryOptions({
    queryKey: ['fleet', 'server', name],
    queryFn: ({ signal }) => api.call('getServer', { name }, { signal }),
    refetchInterval: pollUnlessFed,
  });

export const serverLoadQuery = (api: Api, name: string) =>
  queryOptions({
    queryKey: ['fleet', 'load', name],
    queryFn: ({ signal }) => api.call('getServerLoad', { name }, { signal }),
    // A heartbeat is no change that anybody is told of.
    refetchInterval: inTurns,
  });
