import type { IceServer } from '@parley/contract';
import { TURN_CREDENTIAL_MS, turnCredential } from '@parley/turn/credentials';
import type { Clock } from '../../core/clock.ts';

/** Relays outside of the fleet, which operators may run for networks that let no UDP through. */
export type IceServers = (identity: string) => IceServer[];

export interface TurnConfig {
  urls: readonly string[];
  /** Shared with the TURN server (`use-auth-secret`); null for servers that ask for nothing, such as STUN. */
  secret: string | null;
}

export function createIceServers({ turn, clock }: { turn: TurnConfig; clock: Clock }): IceServers {
  return (identity) => {
    if (turn.urls.length === 0) return [];
    if (turn.secret === null) return [{ urls: [...turn.urls] }];
    const credential = turnCredential(turn.secret, identity, clock.now() + TURN_CREDENTIAL_MS);
    return [{ urls: [...turn.urls], ...credential }];
  };
}
