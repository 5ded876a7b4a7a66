import type { RtcServer, RtcServerStatus } from '@parley/contract';
import type { StoredServer } from './server-store.ts';

export function statusOf(server: StoredServer, silentBefore: string | null): RtcServerStatus {
  if (silentBefore !== null && server.seenAt < silentBefore) return 'OFFLINE';
  if (!server.isDraining) return 'ACTIVE';
  return server.placedRooms === 0 ? 'DRAINED' : 'DRAINING';
}

/** The record; the node's inner address is for operators and for the node itself. */
export function toRtcServer(server: StoredServer, silentBefore: string | null, showsInternalUrl: boolean): RtcServer {
  return {
    ...server,
    ...(showsInternalUrl ? {} : { internalUrl: undefined }),
    status: statusOf(server, silentBefore),
    draining: server.isDraining,
  };
}
