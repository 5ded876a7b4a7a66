import type { Room } from '@parley/client';
import { useEffect } from 'react';
import { useLatest } from '../hooks/use-latest.ts';
import type { JoinChoices } from './pre-join.tsx';

/** In place of devices: publishes what the application has, once the room is joined. */
export type Publish = (room: Room, choices: JoinChoices) => Promise<void>;

/** Publishes once per joining, when the room is connected; a reconnect keeps what is published. */
export function usePublished(
  room: Room,
  choices: JoinChoices,
  publish: Publish | undefined,
  onError: (error: unknown) => void,
): void {
  const given = useLatest({ choices, publish, onError });
  useEffect(() => {
    const start = async (): Promise<void> => {
      const { choices: chosen, publish: own, onError: fail } = given.current;
      const steps = own
        ? [own(room, chosen)]
        : [chosen.hasMicrophone && room.self.setMicrophone(true), chosen.hasCamera && room.self.setCamera(true)];
      for (const result of await Promise.allSettled(steps)) if (result.status === 'rejected') fail(result.reason);
    };
    return room.on('connectionStateChanged', (state, previous) => {
      if (state === 'connected' && previous === 'connecting' && room.self.tracks.size === 0) void start();
    });
  }, [room]);
}
