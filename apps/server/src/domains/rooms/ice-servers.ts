import { createHmac } from 'node:crypto';
import type { IceServer } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';

/** What a browser needs besides the media node's own address: relays for networks that let no UDP through. */
export type IceServers = (identity: string) => IceServer[];

export interface TurnConfig {
  urls: readonly string[];
  /** Shared with the TURN server (`use-auth-secret`); null for servers that ask for nothing, such as STUN. */
  secret: string | null;
}

const credentialSeconds = 24 * 60 * 60;

/** Credentials of the TURN REST API: they carry their expiry, so that no user has to be registered. */
export function createIceServers({ turn, clock }: { turn: TurnConfig; clock: Clock }): IceServers {
  return (identity) => {
    if (turn.urls.length === 0) return [];
    if (turn.secret === null) return [{ urls: [...turn.urls] }];
    const username = `${Math.floor(clock.now() / 1000) + credentialSeconds}:${identity}`;
    const credential = createHmac('sha1', turn.secret).update(username).digest('base64');
    return [{ urls: [...turn.urls], username, credential }];
  };
}
