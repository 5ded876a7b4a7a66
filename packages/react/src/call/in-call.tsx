import type { Devices, ParticipantState, Room } from '@parley/client';
import { useRoom } from '@parley/client/react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useAnnouncements } from '../hooks/use-announcements.ts';
import { useParticipants } from '../hooks/use-call.ts';
import { type Reactions, useReactions } from '../hooks/use-reactions.ts';
import { PeopleIcon } from '../icons.tsx';
import { toggleFullScreen } from '../shared/full-screen.ts';
import { messageOf } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { Controls, type ControlsProps } from './controls.tsx';
import { RoomAudio } from './media.tsx';
import { Notices } from './notices.tsx';
import { People } from './people.tsx';
import type { JoinChoices } from './pre-join.tsx';
import { Settings, type SettingsProps } from './settings.tsx';
import { type CallPanel, PanelButtons, SidePanels } from './side-panel.tsx';
import { type Layout, Stage } from './stage.tsx';

export interface InCallProps
  extends Pick<SettingsProps, 'backgrounds' | 'background' | 'onBackground'>,
    Pick<ControlsProps, 'hasShortcuts'> {
  room: Room;
  /** Default: those that the room was made with. A choice in others has no effect; without any there are no lists. */
  devices?: Devices | undefined;
  /** Shown in the bar; the name of the room, for instance. */
  title?: string;
  choices: JoinChoices;
  /** In place of devices: publishes what the application has, once the room is joined. */
  publish?: ((room: Room) => Promise<void>) | undefined;
  /** What failed in the application; shown like failures of the call. */
  error?: unknown;
  onLeave: () => void;
  /** Shown over the stage, at its foot. */
  captions?: ReactNode;
  /** Beside the stage, behind a button each. The list of people is always there. */
  panels?: readonly CallPanel[];
  /** The panel that is open at first. */
  openPanel?: string | null;
  /** Further buttons in the bar. */
  actions?: ReactNode;
  /** Over the stage, while nobody else is there. */
  alone?: ReactNode;
  nameOf?: (participant: ParticipantState) => string;
  isSelfMirrored?: boolean;
}

export const devicesOf = ({ room, devices }: Pick<InCallProps, 'room' | 'devices'>): Devices | undefined =>
  devices ?? room.devices ?? undefined;

/** The call itself, connected while it is in the page. */
export function InCall(props: InCallProps) {
  const { room, choices, publish, onLeave, title, nameOf } = props;
  const devices = devicesOf(props);
  const texts = useTexts();
  const root = useRef<HTMLElement>(null);
  const { connection, error: lost, participants } = useRoom(room);
  const [error, setError] = useState<unknown>(null);
  const [layout, setLayout] = useState<Layout>('grid');
  const [areCaptionsOn, setCaptions] = useState(true);
  const [isMirrored, setMirrored] = useState(props.isSelfMirrored ?? true);
  const [hasSettings, setSettings] = useState(false);
  const [open, setOpen] = useState(props.openPanel ?? null);
  const reactions = useReactions(room, setError);
  usePublished(room, choices, publish, setError);
  useEffect(() => room.on('error', setError), [room]);
  const panels = usePanels(room, reactions, props);
  const isOver = connection === 'disconnected' && lost !== null;

  return (
    <section ref={root} className="parley parley-call" aria-label={title ?? texts.stage} data-connection={connection}>
      <div className="parley-call-body">
        <div className="parley-call-stage parley-dark">
          <Notices room={room} error={error ?? props.error} onDismiss={() => setError(null)} />
          {isOver ? (
            <Ended message={messageOf(lost)} onRejoin={() => void room.connect().catch(() => {})} />
          ) : (
            <Stage
              room={room}
              layout={layout}
              isSelfMirrored={isMirrored}
              hands={reactions.hands}
              reactions={reactions.reactions}
              nameOf={nameOf}
            />
          )}
          {connection === 'connecting' && <p className="parley-call-wait">{texts.connecting}</p>}
          {connection === 'connected' && participants.length === 0 && (
            <div className="parley-call-alone">{props.alone ?? texts.alone}</div>
          )}
          {areCaptionsOn && props.captions && <div className="parley-captions">{props.captions}</div>}
        </div>
        <SidePanels panels={panels} open={open} onOpen={setOpen} />
      </div>
      <Controls
        room={room}
        devices={devices}
        reactions={reactions}
        hasShortcuts={props.hasShortcuts}
        layout={layout}
        onLayout={setLayout}
        onSettings={() => setSettings(true)}
        onFullScreen={() => void toggleFullScreen(root.current)}
        areCaptionsOn={areCaptionsOn}
        {...(props.captions ? { onCaptions: setCaptions } : {})}
        onError={setError}
        onLeave={onLeave}
        start={<Heading title={title} count={participants.length + 1} />}
        end={<PanelButtons panels={panels} open={open} onOpen={setOpen} />}
      >
        {props.actions}
      </Controls>
      <RoomAudio room={room} />
      <Announcer room={room} reactions={reactions} nameOf={nameOf} />
      {hasSettings && (
        <Settings
          {...props}
          devices={devices}
          isSelfMirrored={isMirrored}
          onMirror={setMirrored}
          onError={setError}
          onClose={() => setSettings(false)}
        />
      )}
    </section>
  );
}

function Heading({ title, count }: { title: string | undefined; count: number }) {
  const texts = useTexts();
  return (
    <>
      {title && <h1 className="parley-call-title">{title}</h1>}
      <span className="parley-call-count">{texts.participantCount(count)}</span>
    </>
  );
}

function Ended({ message, onRejoin }: { message: string; onRejoin: () => void }) {
  const texts = useTexts();
  return (
    <div className="parley-left" role="alert">
      <h2>{texts.endedTitle}</h2>
      <p>{message}</p>
      <button type="button" className="parley-button" data-kind="primary" onClick={onRejoin}>
        {texts.rejoin}
      </button>
    </div>
  );
}

type Named = Pick<InCallProps, 'nameOf'>;

function usePanels(room: Room, { hands }: Reactions, { panels = [], nameOf }: InCallProps): readonly CallPanel[] {
  const texts = useTexts();
  const people: CallPanel = {
    id: 'people',
    label: texts.people,
    icon: <PeopleIcon />,
    content: <People room={room} hands={hands} nameOf={nameOf} />,
    badge: hands.size,
  };
  return [people, ...panels];
}

function Announcer({ room, reactions, nameOf }: { room: Room; reactions: Reactions } & Named) {
  const everybody = useParticipants(room);
  const said = useAnnouncements(room, reactions, (identity) => {
    const found = everybody.find((one) => one.identity === identity);
    return found ? (nameOf?.(found) ?? found.name) : identity;
  });
  return (
    <p className="parley-hidden" role="status">
      {said}
    </p>
  );
}

/** Publishes once per joining, when the room is connected; a reconnect keeps what is published. */
function usePublished(
  room: Room,
  choices: JoinChoices,
  publish: InCallProps['publish'],
  onError: (error: unknown) => void,
): void {
  const given = useRef({ choices, publish, onError });
  given.current = { choices, publish, onError };
  useEffect(() => {
    const start = async (): Promise<void> => {
      const { choices: chosen, publish: own, onError: fail } = given.current;
      const steps = own
        ? [own(room)]
        : [chosen.hasMicrophone && room.self.setMicrophone(true), chosen.hasCamera && room.self.setCamera(true)];
      for (const result of await Promise.allSettled(steps)) if (result.status === 'rejected') fail(result.reason);
    };
    return room.on('connectionStateChanged', (state, previous) => {
      if (state === 'connected' && previous === 'connecting' && room.self.tracks.size === 0) void start();
    });
  }, [room]);
}
