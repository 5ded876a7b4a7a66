import { fail } from '@parley/contract';
import type { FastifyRequest } from 'fastify';
import type { IsOwnHost } from '../core/hosts.ts';

/** Refuses a request under any other name than ours, before anything is read of it. */
export const onlyAt =
  (isOwnHost: IsOwnHost) =>
  async ({ headers }: FastifyRequest): Promise<void> => {
    if (!isOwnHost(headers.host))
      fail('SVC_ORIGIN_NOT_ALLOWED', {
        message: 'This is for this machine only: open it at localhost, 127.0.0.1 or [::1].',
      });
  };
