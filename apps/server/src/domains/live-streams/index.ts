import type { Limits, liveStreamRoutes } from '@parley/contract';
import type { Domain } from '../../core/part.ts';
import { type PersonalData, untilNone } from '../../core/personal-data.ts';
import { createGuests } from './guests.ts';
import { listStreamsOf, renameHosts } from './personal-store.ts';
import { createStreams, type StreamDeps } from './streams.ts';

interface LiveStreams extends Domain<typeof liveStreamRoutes> {
  personalData: PersonalData;
}

export function createLiveStreams(deps: StreamDeps & { limits: Limits }): LiveStreams {
  const { db, replicated, limits } = deps;
  const chatTtlSeconds = Math.min(limits.CHAT_TOKEN_DEFAULT_TTL_SECONDS, limits.CHAT_TOKEN_MAX_TTL_SECONDS);
  const streams = createStreams(deps);
  const guests = createGuests({ ...deps, streams, chatTtlSeconds });

  return {
    personalData: {
      exports: [{ kind: 'live_stream_host', page: (person, place, limit) => listStreamsOf(db, person, place, limit) }],
      erasures: [untilNone('live stream hosts', (erasure, limit) => renameHosts(db, erasure, limit))],
    },
    chores: [
      {
        name: 'live-streams',
        everyMs: 2_000,
        run: streams.sweep,
        isDue: streams.isSweepDue,
        onDatabaseAlone: true,
      },
    ],
    handlers: {
      listLiveStreams: ({ caller, query }) => streams.list(caller, query),
      createLiveStream: ({ caller, body }) => streams.create(caller, body),
      getLiveStream: ({ caller, params }) => streams.get(caller, params.streamId),
      updateLiveStream: ({ caller, params, body }) => streams.update(caller, params.streamId, body),
      startLiveStream: ({ caller, params }) => streams.start(caller, params.streamId),
      endLiveStream: ({ caller, params }) => streams.end(caller, params.streamId),
      registerHost: ({ caller, params, body, request }) =>
        guests.registerHost(caller, params.streamId, body, request.id),
      removeHost: ({ caller, params }) => guests.remove(caller, params.streamId, params.identity),
      createViewerToken: ({ caller, params, body, request }) =>
        guests.mintViewer(caller, params.streamId, body.identity, request.id),
      leaveLiveStream: ({ caller, params, body }) => guests.leave(caller, params.streamId, body.identity),
      listProjectLiveStreams: ({ caller, query }) => streams.list(caller, query, replicated.current),
      createProjectLiveStream: ({ caller, body }) => streams.create(caller, body),
      getProjectLiveStream: ({ caller, params }) => streams.detail(caller, params.streamId),
      updateProjectLiveStream: ({ caller, params, body }) => streams.update(caller, params.streamId, body),
      endProjectLiveStream: ({ caller, params }) => streams.end(caller, params.streamId),
    },
  };
}
