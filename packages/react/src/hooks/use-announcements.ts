import type { Room } from '@parley/client';
import { useEffect, useRef, useState } from 'react';
import { useTexts } from '../texts.tsx';
import { useLatest } from './use-latest.ts';
import type { Reactions } from './use-reactions.ts';

/** Changes of the call in words, for those who do not see them: the text of one live region. */
export function useAnnouncements(
  room: Room,
  { hands, reactions }: Pick<Reactions, 'hands' | 'reactions'>,
  nameOf: (identity: string) => string,
): string {
  const texts = useTexts();
  const [said, say] = useState('');
  const given = useLatest({ texts, nameOf });
  useEffect(() => {
    const speak = (key: 'joined' | 'left', identity: string): void =>
      say(given.current.texts[key](given.current.nameOf(identity)));
    const stops = [
      room.on('connectionStateChanged', (state) => say(given.current.texts.connectionIs(state))),
      // That it began is said by the sign itself.
      room.on(
        'recordingChanged',
        (isOn) => isOn || say(given.current.texts.state(given.current.texts.recording, isOn)),
      ),
      room.on('participantJoined', ({ identity }) => speak('joined', identity)),
      room.on('participantLeft', ({ identity }) => speak('left', identity)),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [room]);
  useNewest([...hands], (identity) => say(texts.raisedHand(nameOf(identity))));
  useNewest(
    [...reactions].map(([identity, emoji]) => `${identity}\n${emoji}`),
    (entry) => {
      const [identity = '', emoji = ''] = entry.split('\n');
      say(texts.reacted(nameOf(identity), emoji));
    },
  );
  return said;
}

/** Calls with each entry that was not there before. */
function useNewest(entries: readonly string[], onNew: (entry: string) => void): void {
  const known = useRef<readonly string[]>([]);
  const act = useLatest(onNew);
  useEffect(() => {
    for (const entry of entries) if (!known.current.includes(entry)) act.current(entry);
    known.current = entries;
  });
}
