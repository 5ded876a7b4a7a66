import type { Joined, Limits } from '@parley/contract';
import type { MediaParticipantSnapshot } from '@parley/contract/media-control';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { SocketFrame } from '../../core/socket.ts';
import type { Nodes, Turn } from '../fleet/index.ts';
import { type Rooms, toParticipant, toRoom } from '../rooms/index.ts';
import type { Hub } from './hub.ts';
import type { HubRoom } from './hub-room.ts';
import { splitJoined } from './joined-frames.ts';
import type { Member } from './member.ts';
import { createRosters, sendPages } from './roster.ts';

interface WelcomeDeps {
  clock: Clock;
  log: Log;
  limits: Limits;
  nodes: Nodes;
  turn: Turn;
  rooms: Rooms;
  hub: Hub;
}

interface JoinedFacts {
  resumeToken: string;
  since: number;
  resumed: boolean;
  media: MediaParticipantSnapshot | undefined;
  participants?: Joined['participants'];
  /** The others in pages, instead. */
  frames?: readonly SocketFrame[];
}

export type Welcome = ReturnType<typeof createWelcome>;

/** What a participant is told who has just come in, or is back. */
export function createWelcome({ clock, log, limits, nodes, turn, rooms, hub }: WelcomeDeps) {
  const rosters = createRosters({ clock, limits, nodes, rooms });

  /** `joined`, the others in as many frames as it takes, and what has happened since. */
  async function sendJoined(hubRoom: HubRoom, member: Member, facts: JoinedFacts): Promise<void> {
    const { session } = member;
    const room = await rooms.rooms.find(session, session.roomId);
    const counted = { seq: room.eventSeq, size: room.joinedCount };
    const joined = {
      sessionId: session.id,
      resumeToken: facts.resumeToken,
      seq: facts.since,
      resumed: facts.resumed,
      room: toRoom(room, rooms.participantsMax, true),
      participant: toParticipant(session, facts.media),
      iceServers: [...rooms.iceServers(session.identity), ...(await relaysOf(member))],
    };
    const { frames, participants = [] } = facts;
    if (frames) {
      member.connection?.send('joined', { ...joined, participants, more: frames.length > 0 });
      if (member.connection) await sendPages(clock, member.connection, frames);
      return hub.welcome(hubRoom, member, facts.since, counted, () => {});
    }
    const pieces = splitJoined(joined, participants, limits.SIGNALING_MAX_MESSAGE_BYTES);
    return hub.welcome(hubRoom, member, facts.since, counted, () =>
      pieces.forEach((participants, index) => {
        const more = index < pieces.length - 1;
        if (index === 0) member.connection?.send('joined', { ...joined, participants, more });
        else member.connection?.send('joined.more', { participants, more });
      }),
    );
  }

  /** Without a relay most networks still get media: no reason to refuse a join. */
  const relaysOf = ({ serverName, session }: Member) =>
    turn.iceServers(serverName, session.id).catch((error: unknown) => {
      log.warn({ error, server: serverName }, 'joined without the relay of the media node');
      return [];
    });

  return { sendJoined, rosters };
}
