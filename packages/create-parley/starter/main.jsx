import { createDevices, Room } from '@parley/client';
import { Chat as ChatClient } from '@parley/client/chat';
import { Call, Chat, PreJoin, useChat, useConversation } from '@parley/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import '@parley/react/styles.css';

const devices = createDevices();

async function admit(name) {
  const answer = await fetch(`/admit?name=${encodeURIComponent(name)}`);
  const admitted = await answer.json();
  if (!answer.ok) throw new Error(admitted.message);
  return admitted;
}

async function enter(choices) {
  const { url, room: title, user } = await admit(choices.name);
  // A function fetches a new token when the old one has expired.
  const room = new Room({ url, devices, token: async () => (await admit(choices.name)).callToken });
  const chat = new ChatClient({ url, token: async () => (await admit(choices.name)).chatToken });
  return { choices, user, title, room, chat };
}

function LobbyChat({ chat, name, user }) {
  useChat(chat);
  const { conversation, error } = useConversation(chat, name);
  return <Chat conversation={conversation} error={error} userId={user} />;
}

function Lobby() {
  const [visit, setVisit] = useState(null);
  const [problem, setProblem] = useState(null);
  const join = (choices) => enter(choices).then(setVisit, setProblem);
  if (!visit)
    return (
      <PreJoin devices={devices} title="Lobby" onJoin={join}>
        {problem && <p role="alert">{problem.message}</p>}
      </PreJoin>
    );
  const { choices, user, title, room, chat } = visit;
  return (
    <Call
      room={room}
      devices={devices}
      title={title}
      hasPreJoin={false}
      initial={choices}
      chat={<LobbyChat chat={chat} name={title} user={user} />}
      // On a phone it would cover the call.
      openPanel={matchMedia('(min-width: 900px)').matches ? 'chat' : null}
      onLeave={() => setVisit(null)}
    />
  );
}

createRoot(document.getElementById('root')).render(<Lobby />);
