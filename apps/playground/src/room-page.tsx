import { type ParticipantState, Room } from '@parley/client';
import { Chat } from '@parley/client/chat';
import { useChat, useConversation, useRoom } from '@parley/client/react';
import { useEffect, useState } from 'react';
import code from '../../../examples/video-call.ts?raw';
import { backend } from './backend.ts';
import { ChatPanel } from './chat-panel.tsx';
import { Controls } from './controls.tsx';
import { identityOf, storedName, storeName } from './identity.ts';
import { Inspector } from './inspector.tsx';
import { Problem } from './problem.tsx';
import { SourcePicker } from './source-picker.tsx';
import { useTestParticipants } from './test-participants.ts';
import { Tile } from './tile.tsx';
import { useAnnounced } from './use-announced.ts';
import { useLeaveWithPage } from './use-leave-with-page.ts';
import { usePageTitle } from './use-page-title.ts';
import { type Source, usePublishedSource, useSource } from './use-source.ts';

export function RoomPage({ name }: { name: string }) {
  usePageTitle(`Room ${name}`);
  const [person, setPerson] = useState(storedName);
  const [source, setSource] = useSource();
  const [isIn, setIn] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const join = async (): Promise<void> => {
    try {
      storeName(person);
      await backend.openRoom(name);
      setError(null);
      setIn(true);
    } catch (problem) {
      setError(problem);
    }
  };
  if (isIn) return <Call name={name} person={person} source={source} onLeave={() => setIn(false)} />;
  return (
    <form
      className="narrow stack"
      onSubmit={(event) => {
        event.preventDefault();
        void join();
      }}
    >
      <h1>Room {name}</h1>
      <Problem error={error} />
      <div className="field">
        <label htmlFor="person">Your name</label>
        <input
          id="person"
          className="input"
          value={person}
          maxLength={40}
          required
          onChange={({ target }) => setPerson(target.value)}
        />
      </div>
      <SourcePicker source={source} onChange={setSource} />
      <button type="submit" className="button button-primary self-start">
        Join
      </button>
    </form>
  );
}

interface CallProps {
  name: string;
  person: string;
  source: Source;
  onLeave: () => void;
}

function Call({ name, person, source, onLeave }: CallProps) {
  const identity = identityOf(person);
  const [isShortLived, setShortLived] = useState(false);
  const [room] = useState(
    () =>
      new Room({ url: location.origin, token: () => backend.rtcToken(name, identity, isShortLived ? 30 : undefined) }),
  );
  const [chat] = useState(() => new Chat({ url: location.origin, token: () => backend.chatToken(name, identity) }));
  const [error, setError] = useState<unknown>(null);
  usePublishedSource(room, source, person, (problem) => setError(problem ?? null));
  const { connection, participants, self } = useRoom(room);
  useChat(chat);
  const { conversation, error: chatError } = useConversation(chat, name);
  const tests = useTestParticipants(name, setError);
  const said = useAnnounced(room);

  useEffect(() => room.on('error', setError), [room]);
  const { stop } = tests;
  useLeaveWithPage(stop);
  const everyone: readonly ParticipantState[] = self ? [self, ...participants] : participants;

  return (
    <div className="call">
      <section className="stage" aria-label="Call">
        <div className="row">
          <h1>{name}</h1>
          <span className="badge" data-state={connection}>
            {connection}
          </span>
          <span className="muted">{everyone.length === 1 ? '1 person' : `${everyone.length} people`}</span>
        </div>
        <Problem error={error} />
        <ul className="tiles" data-count={Math.min(everyone.length, 9)}>
          {everyone.map((participant) => (
            <Tile key={participant.identity || 'self'} participant={participant} />
          ))}
        </ul>
        <Controls
          room={room}
          onError={setError}
          onLeave={() => {
            tests.stop();
            onLeave();
          }}
        >
          <button
            type="button"
            className={`button ${tests.count === 0 ? 'pulse' : ''}`}
            disabled={connection !== 'connected'}
            onClick={() => void tests.add()}
          >
            Add a test participant
          </button>
        </Controls>
        <p className="visually-hidden" role="status">
          {said}
        </p>
      </section>
      <ChatPanel conversation={conversation} identity={identity} error={chatError} />
      <Inspector
        room={room}
        code={code}
        onShortToken={() => {
          setShortLived(true);
          setError(null);
        }}
      />
    </div>
  );
}
