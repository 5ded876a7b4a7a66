import {
  fail,
  type LiveStreamHost,
  type LiveStreamHostRole,
  type RegisterHost,
  type RtcToken,
  type RtcTokenPermissions,
  type StreamCredentials,
  tokenScopes,
} from '@parley/contract';
import type { ApiKeyCaller, ProjectScope } from '../../core/caller.ts';
import { iso } from '../../core/clock.ts';
import { findHost, removeHost, upsertHost } from './host-store.ts';
import { lockStream, type StoredStream } from './stream-store.ts';
import type { StreamDeps, Streams } from './streams.ts';

const hostPermissions: RtcTokenPermissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
  publishVideo: true,
  publishData: true,
  updateMetadata: false,
};
/** Whatever is asked: no field can request publish access. */
const viewerPermissions: RtcTokenPermissions = {
  join: true,
  subscribe: true,
  publish: false,
  publishAudio: false,
  publishVideo: false,
  publishData: false,
  updateMetadata: false,
};

/** Hosts and viewers of streams: who they are, and the credentials they get. */
export function createGuests({
  db,
  unitOfWork,
  clock,
  rooms,
  chat,
  standing,
  streams,
  chatTtlSeconds,
}: StreamDeps & { streams: Streams; chatTtlSeconds: number }) {
  async function open(scope: ProjectScope, id: string): Promise<StoredStream> {
    const stream = await streams.find(scope, id);
    return stream.status === 'ENDED' ? fail('SVC_STREAM_ENDED') : stream;
  }

  const credentials = async (
    scope: ApiKeyCaller,
    stream: StoredStream,
    identity: string,
    role: StreamCredentials['role'],
    rtc: RtcToken,
  ): Promise<StreamCredentials> => ({
    streamId: stream.id,
    identity,
    role,
    rtc,
    chat: await chat.signToken(scope, {
      userId: identity,
      scopes: tokenScopes,
      conversations: [stream.conversationId],
      ttlSeconds: chatTtlSeconds,
    }),
    room: { id: stream.roomId, name: stream.roomName },
    conversation: { id: stream.conversationId },
  });

  /** Register, mint, then emit: the event says that both have happened. */
  async function registerHost(
    scope: ApiKeyCaller,
    id: string,
    { identity, role: asked }: RegisterHost,
    requestId: string,
  ): Promise<StreamCredentials> {
    const stream = await open(scope, id);
    const role = hostRole(stream, identity, asked);
    await standing.issue(scope, identity);
    await unitOfWork(scope, async (tx, emit) => {
      const locked = (await lockStream(tx, scope, id)) ?? fail('SVC_STREAM_NOT_FOUND');
      if (locked.status === 'ENDED') fail('SVC_STREAM_ENDED');
      await upsertHost(tx, id, { identity, role, at: iso(clock.now()) });
      await chat.ensureMember(tx, emit, scope, stream.conversationUuid, { userId: identity, role: 'MODERATOR' });
    });
    const rtc = await rooms.tokens.mint(scope, stream.roomId, {
      participantIdentity: identity,
      permissions: hostPermissions,
      requestId,
      keyId: scope.publicId,
    });
    await unitOfWork(scope, async (tx, emit) => {
      await lockStream(tx, scope, id);
      const host = await findHost(tx, id, identity);
      // Removed while this was minting: the token just made goes with the others.
      if (!host || host.removedAt !== null) return fail('SVC_HOST_NOT_FOUND');
      emit({ type: 'live_stream.host_joined', data: { streamId: id, identity, role, at: iso(clock.now()) } });
    }).catch(async (error) => {
      await rooms.tokens.revoke(scope, stream.roomId, rtc.tokenId);
      throw error;
    });
    return credentials(scope, stream, identity, role, rtc);
  }

  async function remove(scope: ProjectScope, id: string, identity: string): Promise<LiveStreamHost> {
    const stream = await streams.find(scope, id);
    if (identity === stream.hostIdentity) fail('SVC_HOST_NOT_REMOVABLE');
    const removed = await unitOfWork(scope, async (tx, emit) => {
      await lockStream(tx, scope, id);
      const at = iso(clock.now());
      const host = (await removeHost(tx, id, identity, at)) ?? fail('SVC_HOST_NOT_FOUND');
      await chat.dismissMember(tx, emit, scope, stream.conversationUuid, identity);
      emit({ type: 'live_stream.host_left', data: { streamId: id, identity, at } });
      return host;
    });
    await rooms.tokens.revokeIdentity(scope, stream.roomId, identity);
    return removed;
  }

  async function mintViewer(
    scope: ApiKeyCaller,
    id: string,
    identity: string,
    requestId: string,
  ): Promise<StreamCredentials> {
    const stream = await open(scope, id);
    await assertNoHost(id, identity);
    // Before anything is changed for somebody who gets no token.
    await standing.issue(scope, identity);
    await unitOfWork(scope, (tx, emit) =>
      chat.ensureMember(tx, emit, scope, stream.conversationUuid, { userId: identity, role: 'MEMBER' }),
    );
    const rtc = await rooms.tokens.mint(scope, stream.roomId, {
      participantIdentity: identity,
      permissions: viewerPermissions,
      kind: 'VIEWER',
      requestId,
      keyId: scope.publicId,
    });
    await unitOfWork(scope, async (tx, emit) => {
      const locked = await lockStream(tx, scope, id);
      if (locked?.status === 'ENDED') fail('SVC_STREAM_ENDED');
      const host = await findHost(tx, id, identity);
      if (host?.removedAt === null) fail('SVC_HOST_EXISTS');
      emit({ type: 'live_stream.viewer_joined', data: { streamId: id, identity, at: iso(clock.now()) } });
    }).catch(async (error) => {
      await rooms.tokens.revoke(scope, stream.roomId, rtc.tokenId);
      throw error;
    });
    return credentials(scope, stream, identity, 'VIEWER', rtc);
  }

  /** A viewer with a host's identity would evict or impersonate the host. */
  async function assertNoHost(id: string, identity: string): Promise<void> {
    const host = await findHost(db, id, identity);
    if (host && host.removedAt === null) fail('SVC_HOST_EXISTS');
  }

  async function leave(
    scope: ProjectScope,
    id: string,
    identity: string,
  ): Promise<{ streamId: string; identity: string; at: string }> {
    await streams.find(scope, id);
    const left = { streamId: id, identity, at: iso(clock.now()) };
    await unitOfWork(scope, async (_tx, emit) => emit({ type: 'live_stream.viewer_left', data: left }));
    return left;
  }

  return { registerHost, remove, mintViewer, leave };
}

/** The stream's own host keeps HOST; no one else can get it. */
function hostRole(stream: StoredStream, identity: string, asked: LiveStreamHostRole | undefined): LiveStreamHostRole {
  if (identity === stream.hostIdentity) return 'HOST';
  return asked === 'HOST' ? fail('SVC_HOST_EXISTS') : 'CO_HOST';
}
