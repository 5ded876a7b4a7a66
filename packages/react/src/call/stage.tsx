import type { ParticipantState, Room } from '@parley/client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useActiveSpeakers, useParticipants } from '../hooks/use-call.ts';
import { Grid } from './grid.tsx';
import { Tile } from './tile.tsx';
import { isShown, screenOf } from './tracks.ts';

export type Layout = 'grid' | 'speaker';

export interface StageProps {
  room: Room;
  /** All alike, or the one who speaks large. A screen and a pinned tile are large in both. */
  layout?: Layout;
  isSelfMirrored?: boolean | undefined;
  /** Identities of those who raised a hand. */
  hands?: ReadonlySet<string>;
  /** By identity: the reaction that is shown for a moment. */
  reactions?: ReadonlyMap<string, string>;
  /** Instead of the name in the metadata. */
  nameOf?: ((participant: ParticipantState) => string) | undefined;
}

const screenKey = (identity: string): string => `screen:${identity}`;

/** Everybody, in the layout that fits what happens. */
export function Stage({ room, layout = 'grid', isSelfMirrored = true, hands, reactions, nameOf }: StageProps) {
  const participants = useParticipants(room);
  const [pinned, setPinned] = useState<string | null>(null);
  const togglePin = useCallback((key: string) => setPinned((now) => (now === key ? null : key)), []);
  const screens = participants.filter((one) => isShown(screenOf(one)));
  const speaker = useLastSpeaker(room, participants);
  const keys = [...screens.map(({ identity }) => screenKey(identity)), ...participants.map(({ identity }) => identity)];
  const shared = screens.find(({ isLocal }) => !isLocal) ?? screens[0];
  const focus =
    (pinned !== null && keys.includes(pinned) ? pinned : null) ??
    (shared ? screenKey(shared.identity) : null) ??
    (layout === 'speaker' && participants.length > 1 ? speaker : null);

  const tile = (participant: ParticipantState, of: 'camera' | 'screen') => {
    const key = of === 'screen' ? screenKey(participant.identity) : participant.identity;
    return (
      <PinnableTile
        key={key}
        tileKey={key}
        participant={participant}
        of={of}
        name={nameOf?.(participant)}
        isMirrored={isSelfMirrored}
        isPinned={pinned === key}
        onPin={participants.length + screens.length > 1 ? togglePin : undefined}
        isHandRaised={hands?.has(participant.identity) ?? false}
        reaction={of === 'camera' ? (reactions?.get(participant.identity) ?? null) : null}
      />
    );
  };
  return (
    <Grid focus={focus}>
      {[...screens.map((one) => tile(one, 'screen')), ...participants.map((one) => tile(one, 'camera'))]}
    </Grid>
  );
}

type PinnableProps = Omit<Parameters<typeof Tile>[0], 'onPin' | 'name'> & {
  tileKey: string;
  name: string | undefined;
  onPin: ((key: string) => void) | undefined;
};

/** A function of its own for each tile, the same at every rendering, so that an unchanged tile is left alone. */
function PinnableTile({ tileKey, onPin, name, ...props }: PinnableProps) {
  const pin = useCallback(() => onPin?.(tileKey), [onPin, tileKey]);
  return <Tile {...props} {...(name === undefined ? {} : { name })} {...(onPin ? { onPin: pin } : {})} />;
}

/** Another who speaks now or spoke last; nobody has, the first other one. */
function useLastSpeaker(room: Room, participants: readonly ParticipantState[]): string | null {
  const speaker = useActiveSpeakers(room).find(({ isLocal }) => !isLocal)?.identity;
  const last = useRef<string | null>(null);
  useEffect(() => {
    if (speaker !== undefined) last.current = speaker;
  }, [speaker]);
  const others = participants.filter(({ isLocal }) => !isLocal).map(({ identity }) => identity);
  const known = speaker ?? last.current;
  return known !== null && others.includes(known) ? known : (others[0] ?? null);
}
