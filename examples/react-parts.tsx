import type { Room } from '@parley/client';
import { Controls, RoomAudio, Stage, useReactions, useRoom } from '@parley/react';

export function MyCall({ room, onLeave }: { room: Room; onLeave: () => void }) {
  const { connection } = useRoom(room);
  const reactions = useReactions(room);
  return (
    <div className="my-call parley-dark" data-connection={connection}>
      <Stage room={room} hands={reactions.hands} reactions={reactions.reactions} />
      <Controls room={room} reactions={reactions} onLeave={onLeave} />
      <RoomAudio room={room} />
    </div>
  );
}
