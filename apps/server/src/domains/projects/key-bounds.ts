import type { ApiKey, CreateApiKey } from '@parley/contract';
import { readFuture } from '../../core/future.ts';
import { readNetwork } from '../../core/networks.ts';
import { refuse } from '../../core/validation.ts';

/** What a key is bounded to; null is no bound. */
export type KeyBounds = Pick<ApiKey, 'scopes' | 'expiresAt' | 'allowedNetworks'>;

export function readBounds({ scopes, expiresAt, allowedNetworks }: CreateApiKey, now: number): KeyBounds {
  return {
    scopes: scopes ?? null,
    expiresAt: expiresAt === undefined ? null : readFuture('expiresAt', expiresAt, now),
    allowedNetworks: allowedNetworks?.map(networkAt) ?? null,
  };
}

function networkAt(text: string, index: number): string {
  const field = `allowedNetworks.${index}`;
  const message = `${text} is neither an address nor a network such as 203.0.113.0/24 or 2001:db8::/32.`;
  return readNetwork(text) ?? refuse([{ field, rule: 'network', message }]);
}

export const isExpired = ({ expiresAt }: Pick<KeyBounds, 'expiresAt'>, now: number): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now;
