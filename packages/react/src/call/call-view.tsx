import type { Devices, ParticipantState, Room } from '@parley/client';
import { useStore } from '@parley/client/react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useAnnouncements } from '../hooks/use-announcements.ts';
import { useParticipants } from '../hooks/use-call.ts';
import { type Reactions, useReactions } from '../hooks/use-reactions.ts';
import { ChatIcon, PeopleIcon } from '../icons.tsx';
import { toggleFullScreen } from '../shared/full-screen.ts';
import { useProblem } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { CallOver } from './call-over.tsx';
import { Controls, type ControlsProps } from './controls.tsx';
import { RoomAudio } from './media.tsx';
import { Notices } from './notices.tsx';
import { People } from './people.tsx';
import { Settings } from './settings.tsx';
import type { SettingsProps } from './settings-props.ts';
import { type CallPanel, PanelButtons, SidePanels, usePanels } from './side-panel.tsx';
import { type Layout, Stage } from './stage.tsx';

export interface CallViewProps
  extends Pick<SettingsProps, 'backgrounds' | 'background' | 'onBackground'>,
    Pick<ControlsProps, 'hasShortcuts'> {
  room: Room;
  /** Default: those that the room was made with. A choice in others has no effect; without any there are no lists. */
  devices?: Devices | undefined;
  /** Shown in the bar; the name of the room, for instance. */
  title?: string | undefined;
  /** What failed in the application; shown like failures of the call. */
  error?: unknown;
  onLeave: () => void;
  /** Above the stage. */
  header?: ReactNode;
  /** Shown over the stage, at its foot. */
  captions?: ReactNode;
  /** A `<Chat>` beside the stage, behind a button that counts what comes in while it is closed. */
  chat?: ReactNode;
  /** Beside the stage, behind a button each. The list of people is always there. */
  panels?: readonly CallPanel[];
  /** The panel that is open at first: `people`, `chat` or an id of `panels`. */
  openPanel?: string | null;
  /** Further buttons in the bar. */
  actions?: ReactNode;
  /** Over the stage, while nobody else is there. */
  alone?: ReactNode;
  nameOf?: ((participant: ParticipantState) => string) | undefined;
  isSelfMirrored?: boolean | undefined;
}

export const devicesOf = ({ room, devices }: Pick<CallViewProps, 'room' | 'devices'>): Devices | undefined =>
  devices ?? room.devices ?? undefined;

/** A call as it is drawn, with all that belongs to it. Who connects the room is the application's matter. */
export function CallView(props: CallViewProps) {
  const { room, title, nameOf, captions, openPanel = null } = props;
  const devices = devicesOf(props);
  const texts = useTexts();
  const root = useRef<HTMLElement>(null);
  const { connection, participants } = useStore(room.state);
  const [error, setError] = useState<unknown>(null);
  const [layout, setLayout] = useState<Layout>('grid');
  const [areCaptionsOn, setCaptions] = useState(true);
  const [isMirrored, setMirrored] = useState(props.isSelfMirrored ?? true);
  const [hasSettings, setSettings] = useState(false);
  const reactions = useReactions(room, setError);
  useEffect(() => room.on('error', setError), [room]);
  const panels = usePanels(usePanelList(reactions, props), openPanel);
  return (
    <section
      ref={root}
      className="parley parley-call"
      aria-label={title ?? texts.stage}
      data-connection={connection}
      data-panel={panels.open ?? undefined}
    >
      {props.header && <header className="parley-dark parley-call-header">{props.header}</header>}
      <div className="parley-call-body">
        <div className="parley-call-stage parley-dark">
          <Notices room={room} error={error ?? props.error} onDismiss={() => setError(null)} />
          <OnStage {...props} layout={layout} isSelfMirrored={isMirrored} reactions={reactions} />
          {areCaptionsOn && captions && <div className="parley-captions">{captions}</div>}
        </div>
        <SidePanels panels={panels} />
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
        onCaptions={captions ? setCaptions : undefined}
        onError={setError}
        onLeave={props.onLeave}
        start={<Heading title={title} count={participants.length + 1} />}
        end={<PanelButtons panels={panels} />}
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

function OnStage(props: CallViewProps & { layout: Layout; reactions: Reactions }) {
  const { room, layout, isSelfMirrored, reactions, nameOf, alone } = props;
  const texts = useTexts();
  const { connection, error, participants } = useStore(room.state);
  if (connection === 'disconnected' && error)
    return <Ended error={error} onRejoin={() => void room.connect().catch(() => {})} />;
  return (
    <>
      <Stage room={room} layout={layout} isSelfMirrored={isSelfMirrored} nameOf={nameOf} {...reactions} />
      {connection === 'connecting' && <p className="parley-call-wait">{texts.connecting}</p>}
      {connection === 'connected' && participants.length === 0 && (
        <div className="parley-call-alone">{alone ?? texts.alone}</div>
      )}
    </>
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

function Ended({ error, onRejoin }: { error: unknown; onRejoin: () => void }) {
  const texts = useTexts();
  const reason = useProblem(error);
  return (
    <CallOver title={<h2>{texts.endedTitle}</h2>} onRejoin={onRejoin}>
      <p>{reason}</p>
    </CallOver>
  );
}

function usePanelList({ hands }: Reactions, { room, nameOf, chat, panels = [] }: CallViewProps): CallPanel[] {
  const texts = useTexts();
  const people: CallPanel = {
    id: 'people',
    label: texts.people,
    icon: <PeopleIcon />,
    content: <People room={room} hands={hands} nameOf={nameOf} />,
    badge: hands.size,
  };
  return [people, ...(chat ? [{ id: 'chat', label: texts.chat, icon: <ChatIcon />, content: chat }] : []), ...panels];
}

function Announcer({ room, reactions, nameOf }: Pick<CallViewProps, 'room' | 'nameOf'> & { reactions: Reactions }) {
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
