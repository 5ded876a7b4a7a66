import { fail, type IceServer, type signalingRoutes } from '@parley/contract';
import type { MediaCommands } from '@parley/contract/media-control';
import type { Description, MediaEntry } from '@parley/media-description';
import type { RtcTokenCaller } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Answer, type Handlers, type RequestInfo } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import { asServiceError, MediaRefusal, type Nodes, type Turn } from '../fleet/index.ts';
import type { Rooms, StoredSession, StoredToken } from '../rooms/index.ts';
import type { createJoin } from './join.ts';
import { type createMediaFrames, memberOf } from './media-frames.ts';
import { type Member, newRtcSession, type RtcConnection } from './member.ts';
import { fragmentUfrag, readOffer, writeAnswer } from './plain-sdp.ts';

interface PlainWebRtcDeps {
  clock: Clock;
  ids: Ids;
  nodes: Nodes;
  turn: Turn;
  rooms: Rooms;
  join: ReturnType<typeof createJoin>;
  media: ReturnType<typeof createMediaFrames>;
}

type Way = 'whip' | 'whep';
const FRAGMENT_TYPE = 'application/trickle-ice-sdpfrag';
type Tracks = MediaCommands['pub.offer']['request']['tracks'];

/**
 * WHIP and WHEP: clients that send one SDP offer over HTTP and have no socket. Such a participant is one like any other;
 * where others have their socket it has a connection without a reader. Its node notices when its media is gone.
 */
export function createPlainWebRtc({
  clock,
  ids,
  nodes,
  turn,
  rooms,
  join,
  media,
}: PlainWebRtcDeps): Handlers<typeof signalingRoutes> {
  async function tokenFor(roomReference: string, { bearer = '' }: RequestInfo): Promise<StoredToken> {
    const token = await rooms.tokens.authenticate(bearer);
    const { id } = await rooms.rooms.find(token, roomReference);
    // A token is for one room; the others do not exist for it.
    return id === token.roomId ? token : fail('SVC_ROOM_NOT_FOUND');
  }

  async function joinFor(token: StoredToken, request: RequestInfo, autoSubscribe: boolean): Promise<Member> {
    const connection = silentConnection(token, request);
    await join(connection, { connectionId: ids.newUuid(), autoSubscribe, client: { sdk: 'plain-webrtc' } }, true);
    return memberOf(connection);
  }

  function silentConnection(token: StoredToken, { ip, userAgent }: RequestInfo): RtcConnection {
    let isOpen = true;
    let session = newRtcSession(token);
    return {
      id: ids.newUuid(),
      ip,
      userAgent,
      connectedAt: clock.now(),
      get session() {
        return session;
      },
      get lastSeenAt() {
        return clock.now();
      },
      get isOpen() {
        return isOpen;
      },
      queuedBytes: 0,
      outlet: { write() {} },
      write() {},
      send() {},
      renew(next) {
        session = next;
      },
      close() {
        isOpen = false;
      },
    };
  }

  /** The answer, or the place given back. */
  async function answer(
    way: Way,
    member: Member,
    sdp: string,
    work: () => Promise<Description>,
  ): Promise<Answer<string>> {
    const { session } = member;
    try {
      const text = writeAnswer(await work(), sdp);
      const location = `/v1/rooms/${session.roomId}/${way}/${session.id}`;
      const link = (await relaysOf(member)).flatMap(linksOf).join(', ');
      return new Answer(text, { headers: { location, 'accept-patch': FRAGMENT_TYPE, ...(link && { link }) } });
    } catch (error) {
      await rooms.departures.depart(session, session.roomId, { id: session.id }, 'JOIN_FAILURE');
      throw error;
    }
  }

  /** A client that is not told of relays may still reach the node. */
  const relaysOf = async ({ serverName, session }: Member): Promise<IceServer[]> => [
    ...rooms.iceServers(session.identity),
    ...(await turn.iceServers(serverName, session.id).catch(() => [])),
  ];

  async function publish(request: RequestInfo, reference: string, sdp: string): Promise<Answer<string>> {
    const token = await tokenFor(reference, request);
    if (!token.permissions.publish) fail('SVC_PUBLISH_NOT_ALLOWED');
    const offer = readOffer(sdp);
    const tracks = nameTracks(offer);
    if (tracks.length === 0) fail('SVC_BAD_REQUEST', { message: 'The offer sends nothing.' });
    const member = await joinFor(token, request, false);
    return answer('whip', member, sdp, async () => {
      const { description } = await media.publish(member, { tracks, description: offer });
      return description;
    });
  }

  async function watch(request: RequestInfo, reference: string, sdp: string): Promise<Answer<string>> {
    const token = await tokenFor(reference, request);
    if (!token.permissions.subscribe) fail('SVC_SUBSCRIBE_NOT_ALLOWED');
    const offer = readOffer(sdp);
    const member = await joinFor(token, request, true);
    return answer('whep', member, sdp, async () => {
      try {
        const request = { ...member.address, description: offer };
        return (await nodes.command(member.serverName, 'sub.accept', request)).description;
      } catch (error) {
        throw asServiceError(error, 'SVC_SUBSCRIBE_NOT_ALLOWED');
      }
    });
  }

  async function findOwn({ identity }: RtcTokenCaller, request: RequestInfo, reference: string, sessionId: string) {
    const token = await tokenFor(reference, request);
    const own = await rooms.joinedAs(token.roomId, identity);
    return own?.id === sessionId ? own : fail('SVC_PARTICIPANT_NOT_FOUND');
  }

  /**
   * Trickle ICE (RFC 9725 4.3.2): the node finds the client by its connectivity checks and needs no candidates, so they
   * are only checked to be of this ICE session. Another one would be an ICE restart, which the library cannot do.
   */
  async function trickle(pc: 'pub' | 'sub', own: StoredSession, fragment: string): Promise<undefined> {
    const ufrag = fragmentUfrag(fragment) ?? fail('SVC_BAD_REQUEST', { message: 'The fragment has no a=ice-ufrag.' });
    const { id: participant, roomId: room } = own;
    try {
      await nodes.command(own.serverName ?? '', 'ice', { room, participant, pc, candidates: [], ufrag });
    } catch (error) {
      if (error instanceof MediaRefusal && error.code === 'STALE') fail('SVC_ICE_RESTART_UNSUPPORTED');
      throw asServiceError(error, 'SVC_FORBIDDEN');
    }
    return undefined;
  }

  async function end(...of: Parameters<typeof findOwn>) {
    const own = await findOwn(...of);
    await rooms.departures.depart(own, own.roomId, { id: own.id }, 'CLIENT_INITIATED');
    return undefined;
  }

  return {
    publishByWhip: ({ params, body, request }) => publish(request, params.id, body),
    watchByWhep: ({ params, body, request }) => watch(request, params.id, body),
    trickleWhip: async ({ caller, params, request, body }) =>
      trickle('pub', await findOwn(caller, request, params.id, params.sessionId), body),
    trickleWhep: async ({ caller, params, request, body }) =>
      trickle('sub', await findOwn(caller, request, params.id, params.sessionId), body),
    endWhip: ({ caller, params, request }) => end(caller, request, params.id, params.sessionId),
    endWhep: ({ caller, params, request }) => end(caller, request, params.id, params.sessionId),
  };
}

/** Gives each sending line a name, whatever the client called it. */
function nameTracks({ media }: Description): Tracks {
  const isSending = ({ kind, direction }: MediaEntry): boolean => kind !== 'data' && /^send/.test(direction);
  return media.filter(isSending).map((entry) => {
    const cid = `line-${entry.mid}`;
    entry.trackId = cid;
    return entry.kind === 'audio'
      ? { cid, kind: 'AUDIO', source: 'MICROPHONE' }
      : { cid, kind: 'VIDEO', source: 'CAMERA' };
  });
}

/** As `Link` fields (RFC 9725 4.6), one for each address. */
function linksOf({ urls, username, credential }: IceServer): string[] {
  const secret = username && credential ? `; username="${username}"; credential="${credential}"` : '';
  const type = secret && '; credential-type="password"';
  return [urls].flat().map((url) => `<${url}>; rel="ice-server"${secret}${type}`);
}
