import type { Factors } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../../data/queries.ts';

export const factorsKey = ['factors'] as const;

export const factorsQuery = (api: Api) =>
  queryOptions({
    queryKey: factorsKey,
    queryFn: ({ signal }) => api.call('getFactors', {}, { signal }),
    refetchInterval: pollUnlessFed,
  });

export const hasFactor = ({ totp, passkeys }: Factors): boolean => totp !== null || passkeys.length > 0;
