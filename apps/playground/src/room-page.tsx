import { createDevices } from '@parley/client';
import { useChat, useConversation } from '@parley/client/react';
import { Call, type JoinChoices } from '@parley/react';
import { type ReactNode, useCallback, useState } from 'react';
import code from '../../../examples/video-call.ts?raw';
import { backend } from './backend.ts';
import { ChatPanel } from './chat-panel.tsx';
import { AddPersonIcon, CodeIcon } from './icons.tsx';
import { storedName, storeName } from './identity.ts';
import { Inspection } from './inspector.tsx';
import { openSession, type RoomSession } from './room-session.ts';
import { SourcePicker } from './source-picker.tsx';
import { useTestParticipants } from './test-participants.ts';
import { useFullPage } from './use-full-page.ts';
import { useLeaveWithPage } from './use-leave-with-page.ts';
import { usePageTitle } from './use-page-title.ts';
import { useCardPreview, usePublish, useSource } from './use-source.ts';

export function RoomPage({ name }: { name: string }) {
  usePageTitle(`Room ${name}`);
  const [devices] = useState(createDevices);
  const [source, setSource] = useSource();
  const [session, setSession] = useState(() => openSession(name, storedName(), devices));
  const [isIn, setIn] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const tests = useTestParticipants(name, setError);
  const { stop } = tests;
  useFullPage(isIn);
  useLeaveWithPage(stop);

  const join = async (wanted: JoinChoices): Promise<void> => {
    storeName(wanted.name);
    await backend.openRoom(name);
    setError(null);
    setSession(openSession(name, wanted.name, devices));
    setIn(true);
  };
  const leave = useCallback((): void => {
    stop();
    setIn(false);
  }, [stop]);
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
    <Call
      room={session.room}
      title={name}
      initial={{ name: storedName() }}
      capture={useCardPreview(source)}
      publish={usePublish(source)}
      fields={<SourcePicker source={source} onChange={setSource} />}
      isSelfMirrored={source === 'camera'}
      onJoin={join}
      onLeave={leave}
      error={error}
      alone={<Alone>{add}</Alone>}
      actions={tests.count > 0 && add}
      chat={<RoomChat name={name} session={session} />}
      openPanel={matchMedia('(min-width: 900px)').matches ? 'chat' : null}
      panels={[
        {
          id: 'inspector',
          label: 'Inspector',
          icon: <CodeIcon />,
          content: <Inspection room={session.room} code={code} onShortToken={session.shortenTokens} />,
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

function RoomChat({ name, session: { chat, identity } }: { name: string; session: RoomSession }) {
  useChat(chat);
  const { conversation, error } = useConversation(chat, name);
  return <ChatPanel conversation={conversation} identity={identity} error={error} />;
}
