import type { CloseCode } from '@parley/contract';
import type { ProjectScope } from './caller.ts';

/** Where a token of an end user comes from: what ends it before its time. */
export interface Grant extends ProjectScope {
  userId: string;
  tokenId: string;
  /** The API key that minted it, or the signing key; null when a member did, or before keys were noted. */
  keyId: string | null;
  /** Epoch milliseconds. */
  issuedAt: number;
}

/** The sockets of this process, by the tokens they were opened with. */
export interface OpenConnections {
  /** With none there is nothing to cut off, and who connects later is judged then. */
  readonly count: number;
  /** Projects that have a connection here. */
  projects(): string[];
  /** Closes those whose grant is over. */
  cutOff(isOver: (grant: Grant) => boolean, close: { code: CloseCode; reason: string }): void;
}

/** The same, of sockets that are made later than those who close them. */
export const openConnections = (sockets: () => OpenConnections): OpenConnections => ({
  get count() {
    return sockets().count;
  },
  projects: () => sockets().projects(),
  cutOff: (isOver, close) => sockets().cutOff(isOver, close),
});
