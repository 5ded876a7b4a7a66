import type { FrameFields, SignalingServerFrames } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import { frameText, type SocketFrame } from '../../core/socket.ts';
import type { HubRoom } from './hub-room.ts';
import type { Member } from './member.ts';

/** The same bytes for all members that have received `joined`. */
export type Broadcast = <K extends keyof SignalingServerFrames>(
  room: HubRoom,
  type: K,
  fields: FrameFields<SignalingServerFrames[K]>,
  isFor?: (member: Member) => boolean,
) => void;

export const createBroadcast =
  ({ clock }: { clock: Clock }): Broadcast =>
  (room, type, fields, isFor = () => true) => {
    let frame: SocketFrame | undefined;
    for (const member of room.members.values()) {
      if (member.backlog || !member.connection || !isFor(member)) continue;
      frame ??= frameText(JSON.stringify({ type, ...fields, ts: clock.now() }));
      member.connection.write(frame);
    }
  };
