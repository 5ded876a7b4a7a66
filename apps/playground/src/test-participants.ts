import { createTestTracks, Room } from '@parley/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { backend } from './backend.ts';
import { cardSize } from './use-source.ts';

/** Further participants from this very page: real connections of their own, so that media goes through the server. */
export function useTestParticipants(room: string, onError: (error: unknown) => void) {
  const running = useRef<(() => void)[]>([]);
  const [count, setCount] = useState(0);

  const stop = useCallback((): void => {
    for (const end of running.current.splice(0)) end();
    setCount(0);
  }, []);
  useEffect(() => stop, [stop]);

  const add = async (): Promise<void> => {
    const identity = `test-${Math.random().toString(36).slice(2, 6).padEnd(4, '0')}`;
    // It only sends: receiving all media a second time would show nothing new.
    const other = new Room({
      url: location.origin,
      token: () => backend.rtcToken(room, identity, `Test participant ${count + 1}`),
      autoSubscribe: false,
      adaptiveStream: false,
    });
    const card = createTestTracks({ label: `Test participant ${count + 1}`, ...cardSize });
    running.current.push(() => {
      card.stop();
      void other.leave();
    });
    setCount((before) => before + 1);
    try {
      await other.connect();
      await other.self.publish(card.video, { source: 'CAMERA' });
      await other.self.publish(card.audio, { source: 'MICROPHONE' });
    } catch (error) {
      onError(error);
    }
  };
  return { count, add, stop };
}
