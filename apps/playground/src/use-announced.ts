import type { Room } from '@parley/client';
import { useEffect, useState } from 'react';
import { shownName } from './identity.ts';

/** Changes of the call in words, for those who do not see them. */
export function useAnnounced(room: Room): string {
  const [said, say] = useState('');
  useEffect(() => {
    const stops = [
      room.on('connectionStateChanged', (state) => say(`Call ${state}`)),
      room.on('participantJoined', ({ identity }) => say(`${shownName(identity)} joined`)),
      room.on('participantLeft', ({ identity }) => say(`${shownName(identity)} left`)),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [room]);
  return said;
}
