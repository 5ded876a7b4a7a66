import { createDevices, type Devices, Room } from '@parley/client';
import { Chat } from '@parley/client/chat';
import { useChat, useConversation } from '@parley/client/react';
import { InCall, type JoinChoices, PreJoin } from '@parley/react';
import { type ReactNode, useCallback, useRef, useState } from 'react';
import code from '../../../examples/video-call.ts?raw';
import { backend } from './backend.ts';
import { ChatPanel } from './chat-panel.tsx';
import { AddPersonIcon, ChatIcon, CodeIcon } from './icons.tsx';
import { identityOf, storedName, storeName } from './identity.ts';
import { Inspection } from './inspector.tsx';
import { Problem } from './problem.tsx';
import { SourcePicker } from './source-picker.tsx';
import { useTestParticipants } from './test-participants.ts';
import { useFullPage } from './use-full-page.ts';
import { useLeaveWithPage } from './use-leave-with-page.ts';
import { usePageTitle } from './use-page-title.ts';
import { type Source, useCardPreview, usePublish, useSource } from './use-source.ts';

export function RoomPage({ name }: { name: string }) {
  usePageTitle(`Room ${name}`);
  const [devices] = useState(createDevices);
  const [source, setSource] = useSource();
  const card = useCardPreview(source);
  const [joined, setJoined] = useState<{ choices: JoinChoices; source: Source } | null>(null);
  const [isJoining, setJoining] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const join = async (wanted: JoinChoices): Promise<void> => {
    setJoining(true);
    try {
      storeName(wanted.name);
      await backend.openRoom(name);
      setError(null);
      // As it was shown: the list of devices, which decides while nobody has chosen, may come later.
      setJoined({ choices: wanted, source });
    } catch (problem) {
      setError(problem);
    } finally {
      setJoining(false);
    }
  };
  if (joined) return <Meeting name={name} {...joined} devices={devices} onLeave={() => setJoined(null)} />;
  return (
    <PreJoin
      title={name}
      devices={source === 'camera' ? devices : undefined}
      capture={card}
      isMirrored={source === 'camera'}
      initial={{ name: storedName() }}
      isJoining={isJoining}
      onJoin={(wanted) => void join(wanted)}
    >
      <Problem error={error} />
      <SourcePicker source={source} onChange={setSource} />
    </PreJoin>
  );
}

interface MeetingProps {
  name: string;
  choices: JoinChoices;
  source: Source;
  devices: Devices;
  onLeave: () => void;
}

function Meeting({ name, choices, source, devices, onLeave }: MeetingProps) {
  useFullPage();
  const identity = identityOf(choices.name);
  const [isShortLived, setShortLived] = useState(false);
  const ttlSeconds = useRef<number | undefined>(undefined);
  ttlSeconds.current = isShortLived ? 30 : undefined;
  const [room] = useState(
    () =>
      new Room({
        url: location.origin,
        devices,
        token: () => backend.rtcToken(name, identity, choices.name, ttlSeconds.current),
      }),
  );
  const [error, setError] = useState<unknown>(null);
  const publish = usePublish(source, choices);
  const tests = useTestParticipants(name, setError);
  const { stop } = tests;
  useLeaveWithPage(stop);
  const leave = useCallback((): void => {
    stop();
    onLeave();
  }, [stop, onLeave]);
  const add = (
    <button
      type="button"
      className="parley-button"
      data-kind={tests.count === 0 ? 'primary' : undefined}
      onClick={() => void tests.add()}
    >
      <AddPersonIcon />
      Add a test participant
    </button>
  );

  return (
    <InCall
      room={room}
      devices={devices}
      title={name}
      choices={choices}
      publish={publish}
      isSelfMirrored={source === 'camera'}
      onLeave={leave}
      error={error}
      alone={<Alone>{add}</Alone>}
      actions={tests.count > 0 && add}
      openPanel={matchMedia('(min-width: 900px)').matches ? 'chat' : null}
      panels={[
        { id: 'chat', label: 'Chat', icon: <ChatIcon />, content: <RoomChat name={name} identity={identity} /> },
        {
          id: 'inspector',
          label: 'Inspector',
          icon: <CodeIcon />,
          content: <Inspection room={room} code={code} onShortToken={() => setShortLived(true)} />,
        },
      ]}
    />
  );
}

const Alone = ({ children }: { children: ReactNode }) => (
  <div className="alone">
    <p>Nobody else is here yet. Share the address of this page, or</p>
    {children}
  </div>
);

function RoomChat({ name, identity }: { name: string; identity: string }) {
  const [chat] = useState(() => new Chat({ url: location.origin, token: () => backend.chatToken(name, identity) }));
  useChat(chat);
  const { conversation, error } = useConversation(chat, name);
  return <ChatPanel conversation={conversation} identity={identity} error={error} />;
}
