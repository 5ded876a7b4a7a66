import type { FrameData, SignalingClientFrames } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Nodes } from '../fleet/index.ts';
import type { Rooms } from '../rooms/index.ts';
import { createAttach } from './attach.ts';
import type { FollowNodes } from './follow-nodes.ts';
import type { Hub } from './hub.ts';
import { type HubRoom, whileArriving } from './hub-room.ts';
import { createMember, type Member, type RtcConnection, type RtcSession, sendTo, takeOver } from './member.ts';
import type { Observe } from './observe.ts';
import type { Welcome } from './welcome.ts';

interface ResumeDeps {
  clock: Clock;
  nodes: Nodes;
  rooms: Rooms;
  hub: Hub;
  observe: Observe;
  followNodes: FollowNodes;
  sendJoined: Welcome['sendJoined'];
}

/** Goes on with a session whose socket was lost; null where it has to be joined anew. */
export function createResume({ clock, nodes, rooms, hub, observe, followNodes, sendJoined }: ResumeDeps) {
  const attach = createAttach({ clock, nodes, rooms, hub });

  async function resume(
    room: HubRoom,
    connection: RtcConnection,
    { resume, connectionId, roster }: FrameData<SignalingClientFrames['join']>,
  ): Promise<Member | null> {
    const { token } = connection.session;
    if (!resume || !(await hasAllSince(token, resume.lastSeq))) return null;
    const { resumed, handedOver } = await whileArriving(room, token.identity, () =>
      rooms.sessions.resume(token, { ...resume, connectionId }),
    );
    if (!resumed) return null;
    const { session, isAllowedOther } = resumed;
    const former = room.members.get(session.id);
    const member = createMember(session, session.serverName ?? '', connection, roster);
    if (former) takeOver(member, former);
    for (const { type, fields } of handedOver) sendTo(member, type, fields);
    room.members.set(session.id, member);
    if (former?.connection) disconnectFormer(former.connection);
    const media = await attach(room, member, isAllowedOther);
    if (!media) return null;
    connection.session.membership.state = { is: 'joined', member };
    // Nobody has joined by this process: it knows only the node of who resumes.
    if (room.nodes.size === 0) {
      room.nodes = new Set([member.serverName]);
      followNodes(room);
    }
    await sendJoined(room, member, {
      resumeToken: resume.resumeToken,
      since: resume.lastSeq,
      resumed: true,
      media,
      participants: [],
    });
    const updates = [{ identity: session.identity, quality: media.quality, score: null }];
    rooms.roomBus.publish(room.id, { is: 'frame', to: null, type: 'quality', fields: { updates } });
    observe(token, 'signaling.reconnected', connectionId, {});
    return member;
  }

  async function hasAllSince(token: RtcSession['token'], lastSeq: number): Promise<boolean> {
    const { eventSeq } = await rooms.rooms.find(token, token.roomId);
    return lastSeq <= eventSeq && (await rooms.eventsAfter(token.roomId, lastSeq)).length >= eventSeq - lastSeq;
  }

  return resume;
}

/** The same client came back while its old socket was still open here. */
function disconnectFormer(former: RtcConnection): void {
  former.session.membership.state = { is: 'left' };
  former.close(1001, 'RESUMED');
}
