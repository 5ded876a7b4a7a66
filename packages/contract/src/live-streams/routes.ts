import { Type } from 'typebox';
import { routes } from '../route.ts';
import { Contains, EnvironmentQuery, PageQuery } from '../schema.ts';
import { LiveStreamStatus } from './enums.ts';
import {
  CreateLiveStream,
  LiveStream,
  LiveStreamHost,
  LiveStreamWithHosts,
  RegisterHost,
  StreamCredentials,
  UpdateLiveStream,
  ViewerIdentity,
  ViewerLeft,
} from './schemas.ts';

const list = {
  query: Type.Object(PageQuery),
  paged: true,
  returns: [200, Type.Array(LiveStream)],
  does: 'Lists live streams, newest first.',
} as const;
const create = {
  replay: 'resource',
  body: CreateLiveStream,
  returns: [201, LiveStream],
  throws: ['SVC_METADATA_TOO_LARGE', 'SVC_PROJECT_ARCHIVED', 'SVC_QUOTA_EXCEEDED'],
  does: 'Creates a stream with its room, its conversation and its host. scheduledAt starts nothing by itself: call start.',
} as const;
const update = {
  body: UpdateLiveStream,
  returns: [200, LiveStream],
  throws: ['SVC_STREAM_NOT_FOUND', 'SVC_METADATA_TOO_LARGE'],
  does: "Changes a stream's description; metadata is replaced as a whole.",
} as const;
const end = {
  returns: [200, LiveStream],
  throws: ['SVC_STREAM_NOT_FOUND', 'SVC_INVALID_STATE_TRANSITION'],
  does: 'Ends a stream for good: its room closes and its conversation is archived.',
} as const;
const missing = ['SVC_STREAM_NOT_FOUND'] as const;
/** A session names the environment; a key has one. */
const environment = Type.Object(EnvironmentQuery);

export const liveStreamRoutes = routes({
  listLiveStreams: { at: 'GET /v1/live-streams', sdk: 'liveStreams.list', scope: 'streams', by: ['apiKey'], ...list },
  createLiveStream: {
    at: 'POST /v1/live-streams',
    sdk: 'liveStreams.create',
    scope: 'streams',
    by: ['apiKey'],
    budget: 30,
    ...create,
  },
  getLiveStream: {
    at: 'GET /v1/live-streams/{streamId}',
    sdk: 'liveStreams.get',
    scope: 'streams',
    by: ['apiKey'],
    returns: [200, LiveStream],
    throws: missing,
    does: 'Reads a stream with its live viewer count.',
  },
  updateLiveStream: {
    at: 'PATCH /v1/live-streams/{streamId}',
    sdk: 'liveStreams.update',
    scope: 'streams',
    by: ['apiKey'],
    ...update,
  },
  startLiveStream: {
    at: 'POST /v1/live-streams/{streamId}/start',
    sdk: 'liveStreams.start',
    scope: 'streams',
    by: ['apiKey'],
    returns: [200, LiveStream],
    throws: ['SVC_STREAM_NOT_FOUND', 'SVC_INVALID_STATE_TRANSITION'],
    does: 'Moves a stream from CREATED to LIVE.',
  },
  endLiveStream: {
    at: 'POST /v1/live-streams/{streamId}/end',
    sdk: 'liveStreams.end',
    scope: 'streams',
    by: ['apiKey'],
    ...end,
  },
  registerHost: {
    at: 'POST /v1/live-streams/{streamId}/hosts',
    sdk: 'liveStreams.addHost',
    scope: 'streams',
    by: ['apiKey'],
    budget: 60,
    replay: 'credential',
    body: RegisterHost,
    returns: [201, StreamCredentials],
    throws: ['SVC_STREAM_NOT_FOUND', 'SVC_STREAM_ENDED', 'SVC_HOST_EXISTS', 'SVC_QUOTA_EXCEEDED', 'SVC_USER_BANNED'],
    does: 'Registers a host or co-host and returns RTC and chat credentials for them.',
  },
  removeHost: {
    at: 'DELETE /v1/live-streams/{streamId}/hosts/{identity}',
    sdk: 'liveStreams.removeHost',
    scope: 'streams',
    by: ['apiKey'],
    returns: [200, LiveStreamHost],
    throws: ['SVC_STREAM_NOT_FOUND', 'SVC_HOST_NOT_FOUND', 'SVC_HOST_NOT_REMOVABLE'],
    does: 'Removes a co-host: tokens are revoked, the call is left, the chat history stays.',
  },
  createViewerToken: {
    at: 'POST /v1/live-streams/{streamId}/viewer-tokens',
    sdk: 'liveStreams.createViewerToken',
    scope: 'streams',
    by: ['apiKey'],
    budget: 120,
    replay: 'credential',
    body: ViewerIdentity,
    returns: [201, StreamCredentials],
    throws: ['SVC_STREAM_NOT_FOUND', 'SVC_STREAM_ENDED', 'SVC_HOST_EXISTS', 'SVC_QUOTA_EXCEEDED', 'SVC_USER_BANNED'],
    does: 'Mints RTC and chat credentials for a viewer. They never allow publishing.',
  },
  leaveLiveStream: {
    at: 'POST /v1/live-streams/{streamId}/leave',
    sdk: 'liveStreams.leave',
    scope: 'streams',
    by: ['apiKey'],
    body: ViewerIdentity,
    returns: [200, ViewerLeft],
    throws: missing,
    does: 'Says that a viewer has left.',
  },
  listProjectLiveStreams: {
    at: 'GET /v1/projects/{projectId}/live-streams',
    by: ['session'],
    needs: 'live_stream:read',
    ...list,
    query: Type.Object({
      ...EnvironmentQuery,
      ...PageQuery,
      title: Contains,
      status: Type.Optional(LiveStreamStatus),
    }),
  },
  createProjectLiveStream: {
    at: 'POST /v1/projects/{projectId}/live-streams',
    by: ['session'],
    needs: 'live_stream:manage',
    query: environment,
    ...create,
  },
  getProjectLiveStream: {
    at: 'GET /v1/projects/{projectId}/live-streams/{streamId}',
    by: ['session'],
    needs: 'live_stream:read',
    query: environment,
    returns: [200, LiveStreamWithHosts],
    throws: missing,
    does: 'Reads a stream with its registered hosts.',
  },
  updateProjectLiveStream: {
    at: 'PATCH /v1/projects/{projectId}/live-streams/{streamId}',
    by: ['session'],
    needs: 'live_stream:manage',
    query: environment,
    ...update,
  },
  endProjectLiveStream: {
    at: 'POST /v1/projects/{projectId}/live-streams/{streamId}/end',
    by: ['session'],
    needs: 'live_stream:manage',
    query: environment,
    ...end,
  },
});
