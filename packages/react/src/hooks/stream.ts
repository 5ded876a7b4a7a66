import type { LiveStream, ParleyError, ParticipantState, RoomState } from '@parley/client';
import type { Conversation } from '@parley/client/chat';
import { useStore } from '@parley/client/react';
import { useEffect, useMemo, useState } from 'react';

export interface LiveStreamState {
  room: RoomState;
  /** Null until joined. */
  conversation: Conversation | null;
  role: LiveStream['role'] | null;
  /** Those who publish something. */
  hosts: readonly ParticipantState[];
  /** The service has ended the stream. */
  isEnded: boolean;
  error: ParleyError | null;
}

interface Holding {
  count: number;
  joined: Promise<void>;
}

/** Components that show a stream, by stream. */
const holdings = new WeakMap<LiveStream, Holding>();

/** Joined with the first component and left with the last; a moment later, as StrictMode mounts everything twice. */
function hold(stream: LiveStream): { joined: Promise<void>; release: () => void } {
  const holding = holdings.get(stream) ?? { count: 0, joined: stream.join() };
  holdings.set(stream, holding);
  holding.count += 1;
  const release = (): void =>
    void setTimeout(() => {
      holding.count -= 1;
      if (holding.count > 0) return;
      holdings.delete(stream);
      void stream.leave();
    }, 0);
  return { joined: holding.joined, release };
}

interface Joined {
  conversation: Conversation | null;
  role: LiveStream['role'] | null;
  error: ParleyError | null;
}
const NOTHING: Joined = { conversation: null, role: null, error: null };

/** Joins while the component is there. Make the stream once: `useState(() => new LiveStream(…))`. */
export function useStream(stream: LiveStream): LiveStreamState {
  const room = useStore(stream.room.state);
  const [joined, setJoined] = useState(NOTHING);
  useEffect(() => {
    let isCurrent = true;
    const { joined: done, release } = hold(stream);
    done.then(
      () => isCurrent && setJoined({ conversation: stream.chat, role: stream.role, error: null }),
      (error) => isCurrent && setJoined({ ...NOTHING, error }),
    );
    return () => {
      isCurrent = false;
      setJoined(NOTHING);
      release();
    };
  }, [stream]);
  const hosts = useMemo(() => room.participants.filter(({ tracks }) => tracks.length > 0), [room.participants]);
  const error = room.error ?? joined.error;
  return { room, ...joined, hosts, error, isEnded: error?.code === 'room_closed' };
}
