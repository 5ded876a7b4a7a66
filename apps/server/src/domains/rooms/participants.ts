import {
  dataPayloadBytesMax,
  fail,
  type Participant,
  type RemovedParticipant,
  type RoomDetail,
  type RoomSession,
  type RtcTokenPermissions,
  type SendRoomData,
  type Track,
  type UpdateParticipant,
} from '@parley/contract';
import type { MediaParticipantSnapshot, MediaRoomSnapshot } from '@parley/contract/media-control';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { type Answer, page } from '../../core/handlers.ts';
import { asServiceError, MediaRefusal, type Nodes } from '../fleet/index.ts';
import type { Departures } from './departures.ts';
import { toParticipant, toRoomSession, toTrack } from './records.ts';
import type { RoomChange } from './room-change.ts';
import { countJoinedViewers, listFurtherNodes, type StoredRoom } from './room-store.ts';
import type { createRooms } from './rooms.ts';
import { revokeTokensOf } from './rtc-revocation.ts';
import { updateTokenPermissions } from './rtc-token-store.ts';
import { findLiveSession, listJoined, listSessions, type StoredSession } from './session-store.ts';
import type { Sessions } from './sessions.ts';

interface ParticipantDeps {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  nodes: Nodes;
  rooms: ReturnType<typeof createRooms>;
  sessions: Sessions;
  departures: Departures;
  roomChange: RoomChange;
}

export function createParticipants({
  db,
  clock,
  cursors,
  nodes,
  rooms,
  sessions,
  departures,
  roomChange,
}: ParticipantDeps) {
  /** What the node holds of a room; fails when it cannot be asked. */
  async function snapshot(room: StoredRoom): Promise<Map<string, MediaParticipantSnapshot>> {
    const asked = (await nodesOf(room)).map((name) =>
      nodes.command(name, 'snapshot', { room: room.id }).catch(asEmptySnapshot),
    );
    const held = (await Promise.all(asked)).flatMap(({ rooms: all }) => all).filter(({ room: id }) => id === room.id);
    return new Map(held.flatMap(({ participants: there }) => there).map((one) => [one.participant, one]));
  }

  /** All that the room is on, its home first. */
  async function nodesOf({ id, serverName }: StoredRoom): Promise<string[]> {
    if (serverName === null) return [];
    return [serverName, ...(await listFurtherNodes(db, id)).map((node) => node.serverName)];
  }

  /** Live: in the store and on the node. A participant unknown to the node is not there. */
  async function live(room: StoredRoom): Promise<Participant[]> {
    const [media, joined] = await Promise.all([snapshot(room), listJoined(db, room.id)]);
    return joined.flatMap((session) => {
      const known = media.get(session.id);
      return known ? [toParticipant(session, known)] : [];
    });
  }

  async function list(scope: ProjectScope, reference: string): Promise<Participant[]> {
    const room = await rooms.find(scope, reference);
    return room.status === 'ACTIVE' ? live(room) : fail('SVC_ROOM_CLOSED');
  }

  /** How many of a stream's audience have joined; null while the node of the room cannot be reached. */
  async function countViewers(scope: ProjectScope, roomId: string): Promise<number | null> {
    const room = await rooms.find(scope, roomId);
    const isKnown = room.serverName === null || (await rooms.isReachable(room));
    return isKnown ? countJoinedViewers(db, room.id) : null;
  }

  async function detail(scope: ProjectScope, reference: string): Promise<RoomDetail> {
    const room = await rooms.find(scope, reference);
    const participants = await live(room).catch(() => null);
    return { ...(await rooms.record(room)), participants };
  }

  async function listPast(
    scope: ProjectScope,
    reference: string,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
  ): Promise<Answer<RoomSession[]>> {
    const room = await rooms.find(scope, reference);
    const cursorScope = `room-sessions/${room.id}`;
    const after = cursor === undefined ? null : (cursors.read(cursorScope, cursor) as [string, string]);
    const rows = await listSessions(db, room.id, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(cursorScope, [last.createdAt, last.id]));
    return page(items.map(toRoomSession), nextCursor);
  }

  /** Without their tokens, unless told otherwise: a kick that the same token undoes is none. */
  async function remove(
    scope: ProjectScope,
    reference: string,
    identity: string,
    { revokeTokens = true }: { revokeTokens?: boolean },
  ): Promise<RemovedParticipant> {
    const room = await rooms.find(scope, reference);
    const ended = await roomChange(scope, room.id, async (tx, record) => {
      const [session] = await departures.end(tx, record, room.id, { identity }, 'PARTICIPANT_REMOVED');
      if (session && revokeTokens) await revokeTokensOf(tx, room.id, identity, iso(clock.now()));
      return session;
    });
    if (!ended?.leftAt) return fail('SVC_PARTICIPANT_NOT_FOUND');
    return {
      identity,
      sessionId: ended.id,
      state: 'DISCONNECTED',
      reason: 'PARTICIPANT_REMOVED',
      leftAt: ended.leftAt,
    };
  }

  /** A participant of an open room, and the node of their media. */
  async function present(scope: ProjectScope, reference: string, identity: string) {
    const room = await rooms.find(scope, reference);
    if (room.status !== 'ACTIVE') fail('SVC_ROOM_CLOSED');
    const session = await findLiveSession(db, room.id, identity);
    if (!session?.joinedAt || session.serverName === null) return fail('SVC_PARTICIPANT_NOT_FOUND');
    return { room, session, server: session.serverName, address: { room: room.id, participant: session.id } };
  }

  /** The node first: a permission that it does not enforce yet must not be shown as changed. */
  async function update(
    scope: ProjectScope,
    reference: string,
    identity: string,
    change: UpdateParticipant,
  ): Promise<Participant> {
    const { room, session, server, address } = await present(scope, reference, identity);
    const permissions: RtcTokenPermissions | undefined = change.permissions && {
      ...session.permissions,
      ...change.permissions,
    };
    if (permissions)
      await nodes.command(server, 'participant.update', { ...address, permissions }).catch(asParticipantNotFound);
    const fields = {
      ...(permissions ? { permissions } : {}),
      ...(change.metadata === undefined ? {} : { metadata: change.metadata === '' ? null : change.metadata }),
    };
    const updated = { type: 'participant.updated' as const, data: {} };
    const current = await roomChange(scope, room.id, async (tx, record) => {
      const changed = await sessions.recordIn(tx, record, session, updated, fields);
      if (!changed) return fail('SVC_PARTICIPANT_NOT_FOUND');
      if (permissions) {
        await updateTokenPermissions(tx, session.tokenId, permissions);
        const changes = { permissions, by: 'SERVER' } as const;
        record.message({ is: 'frame', to: [identity], type: 'permissions.changed', fields: changes });
      }
      return changed;
    });
    return toParticipant(current, (await snapshot(room)).get(session.id));
  }

  async function mute(
    scope: ProjectScope,
    reference: string,
    identity: string,
    trackId: string,
    muted: boolean,
  ): Promise<Track> {
    const { room, session, server, address } = await present(scope, reference, identity);
    const { changed } = await nodes
      .command(server, 'track.mute', { ...address, trackId, muted, by: 'SERVER' })
      .catch((error) => {
        throw asServiceError(error, 'SVC_FORBIDDEN');
      });
    if (changed) await recordMute(session, trackId, muted);
    const track = (await snapshot(room)).get(session.id)?.tracks.find(({ id }) => id === trackId);
    return track ? toTrack(track) : fail('SVC_TRACK_NOT_FOUND');
  }

  async function recordMute(session: StoredSession, trackId: string, muted: boolean): Promise<void> {
    const { roomId, identity } = session;
    const event = { type: 'track.muted' as const, data: { identity, trackId, muted, by: 'SERVER' } };
    await roomChange(session, roomId, async (tx, record) => {
      await sessions.recordIn(tx, record, session, event);
      record.message({ is: 'frame', to: [identity], type: 'server.mute', fields: { trackId, muted } });
    });
  }

  async function sendData(
    scope: ProjectScope,
    reference: string,
    message: SendRoomData,
  ): Promise<{ delivered: number }> {
    const room = await rooms.find(scope, reference);
    if (room.status !== 'ACTIVE') fail('SVC_ROOM_CLOSED');
    assertPayloadFits(message);
    const data = { ...message, room: room.id, reliable: message.reliable ?? true };
    try {
      const [home, ...further] = (await nodesOf(room)).map((name) => nodes.command(name, 'data.send', data));
      const answers = await Promise.all([home ?? { delivered: 0 }, ...further.map((sent) => sent.catch(nobody))]);
      return { delivered: answers.reduce((sum, { delivered }) => sum + delivered, 0) };
    } catch (error) {
      throw asServiceError(error, 'SVC_DATA_NOT_ALLOWED');
    }
  }

  return { snapshot, countViewers, list, detail, listPast, remove, update, mute, sendData };
}

/** What JSON makes of a payload has to fit a signaling frame: control characters take six bytes there. */
const escapedBytesMax = 14_000;

/** A payload is bounded in bytes, whichever way it is written. */
export function assertPayloadFits({ payload, encoding }: { payload: string; encoding?: 'utf8' | 'base64' }): void {
  const actual = Buffer.byteLength(payload, encoding === 'base64' ? 'base64' : 'utf8');
  const escaped = Buffer.byteLength(JSON.stringify(payload));
  if (actual > dataPayloadBytesMax || escaped > escapedBytesMax)
    fail('SVC_PAYLOAD_TOO_LARGE', { limit: dataPayloadBytesMax });
}

/** A further node where the room has closed, or that is about to be left. */
const nobody = () => ({ delivered: 0 });

/** A node that does not know the room has no participants of it. */
function asEmptySnapshot(error: unknown): { rooms: MediaRoomSnapshot[] } {
  if (error instanceof MediaRefusal && error.code === 'NOT_FOUND') return { rooms: [] };
  throw asServiceError(error, 'SVC_FORBIDDEN');
}

function asParticipantNotFound(error: unknown): never {
  if (error instanceof MediaRefusal && error.code === 'NOT_FOUND') return fail('SVC_PARTICIPANT_NOT_FOUND');
  throw asServiceError(error, 'SVC_FORBIDDEN');
}
