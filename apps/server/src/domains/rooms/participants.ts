import {
  dataPayloadBytesMax,
  fail,
  type Participant,
  type RemovedParticipant,
  type RtcTokenPermissions,
  type SendRoomData,
  type Track,
  type UpdateParticipant,
} from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Cursors } from '../../core/cursors.ts';
import type { Db } from '../../core/db.ts';
import { asServiceError, MediaRefusal, type Nodes } from '../fleet/index.ts';
import type { Departures } from './departures.ts';
import { createParticipantLists } from './participant-lists.ts';
import { toParticipant, toTrack } from './records.ts';
import type { RoomChange } from './room-change.ts';
import type { createRooms } from './rooms.ts';
import { revokeTokensOf } from './rtc-revocation.ts';
import { updateTokenPermissions } from './rtc-token-store.ts';
import { findLiveSession, type StoredSession } from './session-store.ts';
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
  const lists = createParticipantLists({ db, cursors, nodes, rooms });

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
    return toParticipant(current, (await lists.snapshot(room)).get(session.id));
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
    const track = (await lists.snapshot(room)).get(session.id)?.tracks.find(({ id }) => id === trackId);
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
      const [home, ...further] = (await lists.nodesOf(room)).map((name) => nodes.command(name, 'data.send', data));
      const answers = await Promise.all([home ?? { delivered: 0 }, ...further.map((sent) => sent.catch(nobody))]);
      return { delivered: answers.reduce((sum, { delivered }) => sum + delivered, 0) };
    } catch (error) {
      throw asServiceError(error, 'SVC_DATA_NOT_ALLOWED');
    }
  }

  return { ...lists, remove, update, mute, sendData };
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

function asParticipantNotFound(error: unknown): never {
  if (error instanceof MediaRefusal && error.code === 'NOT_FOUND') return fail('SVC_PARTICIPANT_NOT_FOUND');
  throw asServiceError(error, 'SVC_FORBIDDEN');
}
