import {
  type CloseCode,
  type ErrorCode,
  errors,
  fail,
  isServiceError,
  type Limits,
  type ServiceError,
  type SignalingClientFrames,
  type SignalingServerFrames,
  signalingClientFrames,
  signalingHeartbeatIntervalMs,
  signalingHeartbeatTimeoutMs,
  signalingPath,
  signalingProtocol,
  signalingSubprotocol,
} from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { type AnySocket, type FrameHandlers, socket } from '../../core/socket.ts';
import type { Rooms } from '../rooms/index.ts';
import type { createJoin } from './join.ts';
import { type createMediaFrames, memberOf } from './media-frames.ts';
import { newRtcSession, type RtcConnection, type RtcSession } from './member.ts';
import type { Observe } from './observe.ts';
import type { createRpc } from './rpc.ts';

interface SignalingSocketDeps {
  clock: Clock;
  log: Log;
  limits: Limits;
  rooms: Rooms;
  join: ReturnType<typeof createJoin>;
  media: ReturnType<typeof createMediaFrames>;
  rpc: ReturnType<typeof createRpc>;
  observe: Observe;
  closed: (connection: RtcConnection, code: number) => Promise<void>;
}

/** Refusals of a token that the project's developer wants to see. */
const toldRefusals: readonly ErrorCode[] = ['SVC_TOKEN_EXPIRED', 'SVC_TOKEN_REVOKED', 'SVC_USER_BANNED'];

/** The signaling socket: one line a frame. */
export function createSignalingSocket(deps: SignalingSocketDeps): AnySocket {
  const { clock, log, limits, rooms, join, media, rpc, observe, closed } = deps;

  const handlers: FrameHandlers<RtcSession, SignalingClientFrames, SignalingServerFrames> = {
    join: (connection, frame) => join(connection, frame),
    publish: async (connection, frame) => media.publish(memberOf(connection), frame),
    unpublish: async (connection, frame) => media.unpublish(memberOf(connection), frame),
    'sub.answer': async (connection, frame) => media.answer(memberOf(connection), frame),
    ice: async (connection, frame) => media.ice(memberOf(connection), frame),
    'ice.restart': async (connection, frame) => media.restart(memberOf(connection), frame),
    'track.mute': async (connection, frame) => media.mute(memberOf(connection), frame),
    subscribe: async (connection, frame) => media.subscribe(memberOf(connection), frame),
    unsubscribe: async (connection, frame) => media.unsubscribe(memberOf(connection), frame),
    'track.settings': async (connection, frame) => media.settings(memberOf(connection), frame),
    data: async (connection, frame) => media.data(memberOf(connection), frame),
    'rpc.request': async (connection, frame) => rpc.request(memberOf(connection), frame),
    'rpc.response': async (connection, frame) => rpc.respond(memberOf(connection), frame),
    'participant.update': (connection, { metadata }) => updateMetadata(connection, metadata),
    stats: async (connection, { report }) => noteStats(connection, report),
    leave,
  };

  async function updateMetadata(connection: RtcConnection, metadata: string): Promise<undefined> {
    const member = memberOf(connection);
    if (!member.session.permissions.updateMetadata) fail('SVC_METADATA_NOT_ALLOWED');
    const event = { type: 'participant.updated' as const, data: {} };
    const current = await rooms.sessions.record(member.session, event, { metadata: metadata === '' ? null : metadata });
    if (current) member.session = current;
  }

  async function noteStats(connection: RtcConnection, report: Record<string, unknown>): Promise<undefined> {
    const { connectionId } = memberOf(connection).session;
    if (connectionId) observe(connection.session.token, 'stats.report', connectionId, report);
  }

  /** The refused token still names its project, whose timeline shows why the join failed. */
  async function noteRefused(jwt: string, error: unknown): Promise<never> {
    const token = await rooms.tokens.nameOf(jwt).catch(() => null);
    const isTold = isServiceError(error) && toldRefusals.includes(error.code);
    // No join frame came, so there is no client's id: one of the token's stands for all its attempts.
    if (token && isTold) observe(token, 'join.failed', `refused-${token.id}`, { code: error.code });
    throw error;
  }

  async function leave(connection: RtcConnection): Promise<undefined> {
    const { membership } = connection.session;
    if (membership.state.is === 'joined') {
      const { session } = membership.state.member;
      await rooms.departures.depart(session, session.roomId, { id: session.id }, 'CLIENT_INITIATED');
    }
    connection.close(1000, 'LEFT');
  }

  return socket<RtcSession, SignalingClientFrames, SignalingServerFrames>({
    path: signalingPath,
    subprotocol: signalingSubprotocol,
    frames: signalingClientFrames,
    handlers,
    authFrame: 'join',
    takesFirst: true,
    replyType: 'response',
    frameBytesMax: limits.SIGNALING_MAX_MESSAGE_BYTES,
    heartbeatTimeoutMs: signalingHeartbeatTimeoutMs,
    attemptBudget: 'SIGNALING_MAX_CONNECTIONS_PER_WINDOW',
    frameBudget: 'SIGNALING_MAX_MESSAGES_PER_WINDOW',

    async authenticate(jwt): Promise<RtcSession> {
      return newRtcSession(await rooms.tokens.authenticate(jwt).catch((error) => noteRefused(jwt, error)));
    },
    opened: (connection, hasFirst) =>
      connection.send('hello', {
        connectionId: connection.id,
        serverTime: clock.now(),
        heartbeatIntervalMs: signalingHeartbeatIntervalMs,
        heartbeatTimeoutMs: signalingHeartbeatTimeoutMs,
        maxFrameBytes: limits.SIGNALING_MAX_MESSAGE_BYTES,
        maxMessagesPerWindow: limits.SIGNALING_MAX_MESSAGES_PER_WINDOW,
        windowSeconds: limits.RATE_LIMIT_WINDOW_SECONDS,
        protocol: signalingProtocol,
        ...(hasFirst && { first: true as const }),
      }),
    endsWith: (type, error) => (type === 'join' ? endOfJoin(error) : null),
    // Tokens are refreshed by their own length, which may be shorter than the minute this speaks of.
    expiring: () => {},
    draining: (connection, afterMs) =>
      connection.send('reconnect', { action: 'RESUME', reason: 'SERVER_SHUTDOWN', afterMs }),
    closed(connection, code) {
      closed(connection, code).catch((error) => log.warn({ error }, 'lost socket not noted; the process sweep will'));
    },
  });
}

/** A join that failed is the end of its connection, unless the frame itself was wrong. */
function endOfJoin(error: ServiceError): { code: CloseCode; reason: string } | null {
  const { status } = errors[error.code];
  const reason = error.code.slice('SVC_'.length);
  if (error.code === 'SVC_ROOM_FULL') return { code: 4422, reason };
  if (error.code === 'SVC_ROOM_CLOSED') return { code: 4410, reason };
  if (error.code === 'SVC_DUPLICATE_IDENTITY') return { code: 4409, reason };
  const byStatus: Readonly<Record<number, CloseCode>> = { 401: 4401, 403: 4403, 404: 4404 };
  const code = byStatus[status] ?? (status >= 500 ? (status === 500 ? 4500 : 4503) : null);
  return code === null ? null : { code, reason };
}
