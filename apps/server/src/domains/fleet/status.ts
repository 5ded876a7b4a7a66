import type { RtcServer, RtcServerStatus } from '@parley/contract';
import type { ServerWithLoad } from './server-load.ts';
import type { StoredServer } from './server-store.ts';

/** No node is offline while this process cannot know who is silent (null). */
export const isOffline = ({ seenAt }: StoredServer, silentBefore: string | null): boolean =>
  silentBefore !== null && seenAt < silentBefore;

export function statusOf(server: ServerWithLoad, silentBefore: string | null): RtcServerStatus {
  if (isOffline(server, silentBefore)) return 'OFFLINE';
  if (!server.isDraining) return 'ACTIVE';
  return server.placedRooms === 0 ? 'DRAINED' : 'DRAINING';
}

/** The record; the node's inner address is for operators and for the node itself. */
export function toRtcServer(server: ServerWithLoad, silentBefore: string | null, showsInternalUrl: boolean): RtcServer {
  return {
    ...server,
    ...(showsInternalUrl ? {} : { internalUrl: undefined }),
    status: statusOf(server, silentBefore),
    draining: server.isDraining,
  };
}
