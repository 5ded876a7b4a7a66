import type { ParticipantState, Room } from '@parley/client';
import { useParticipants } from '../hooks/use-call.ts';
import { CameraIcon, CameraOffIcon, HandIcon, MicrophoneIcon, MicrophoneOffIcon } from '../icons.tsx';
import { Avatar } from '../shared/avatar.tsx';
import { useTexts } from '../texts.tsx';
import { cameraOf, isOn, microphoneOf } from './tracks.ts';

export interface PeopleProps {
  room: Room;
  hands?: ReadonlySet<string>;
  nameOf?: ((participant: ParticipantState) => string) | undefined;
}

/** Everybody in a list; raised hands first, in the order in which they went up. */
export function People({ room, hands = new Set(), nameOf }: PeopleProps) {
  const texts = useTexts();
  const participants = useParticipants(room);
  const raised = [...hands];
  const orderOf = ({ identity }: ParticipantState): number => (raised.indexOf(identity) + 1 || raised.length + 1) - 1;
  const ordered = [...participants].sort((a, b) => orderOf(a) - orderOf(b));
  return (
    <ul className="parley parley-people" aria-label={texts.people}>
      {ordered.map((participant) => {
        const { identity, isLocal } = participant;
        const name = nameOf?.(participant) ?? participant.name;
        return (
          <li key={identity}>
            <Avatar identity={identity} name={name} />
            <span className="parley-people-name">{isLocal ? texts.nameOfSelf(name) : name}</span>
            {hands.has(identity) && (
              <span className="parley-people-hand" title={texts.handRaised}>
                <HandIcon />
                <span className="parley-hidden">{texts.handRaised}</span>
              </span>
            )}
            <Sends isSending={isOn(cameraOf(participant))} what={texts.camera} icons={[CameraIcon, CameraOffIcon]} />
            <Sends
              isSending={isOn(microphoneOf(participant))}
              what={texts.microphone}
              icons={[MicrophoneIcon, MicrophoneOffIcon]}
            />
          </li>
        );
      })}
    </ul>
  );
}

interface SendsProps {
  isSending: boolean;
  what: string;
  icons: readonly [typeof CameraIcon, typeof CameraIcon];
}

function Sends({ isSending, what, icons: [On, Off] }: SendsProps) {
  const { state } = useTexts();
  return (
    <span className="parley-people-state" data-off={!isSending || undefined}>
      {isSending ? <On /> : <Off />}
      <span className="parley-hidden">{state(what, isSending)}</span>
    </span>
  );
}
