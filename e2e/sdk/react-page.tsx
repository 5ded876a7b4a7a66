/** A small application on the React hooks, under StrictMode, as a test's page runs it. */
import { createTestTracks, Room } from '@parley/client';
import { Chat } from '@parley/client/chat';
import type { ChatStore } from '@parley/client/chat-store';
import {
  useChat,
  useChatStore,
  useConversation,
  useMessages,
  useRoom,
  useStore,
  useTrackRef,
} from '@parley/client/react';
import { type ReactElement, StrictMode, useEffect, useState, useSyncExternalStore } from 'react';
import { createRoot, type Root } from 'react-dom/client';

interface AppProps {
  url: string;
  rtcToken: string;
  chatToken: string;
  conversation: string;
}

/** How often each thing was made or told: StrictMode mounts everything twice. */
export const counts = { connects: 0, leaves: 0 };

type RemoteTrack = Parameters<typeof useTrackRef>[0];

function Tile({ track, label }: { track: RemoteTrack; label: string }): ReactElement {
  const ref = useTrackRef(track);
  return <video muted ref={ref} data-tile={label} style={{ width: 320, height: 180 }} />;
}

/** What else is shown: second components with the same call and chat, as a header has them, and a list. */
let shown = { header: true, list: false };
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
const useShown = (): typeof shown => useSyncExternalStore(subscribe, () => shown);
export function show(change: Partial<typeof shown>): void {
  shown = { ...shown, ...change };
  for (const listener of listeners) listener();
}
const RoomHeader = ({ room }: { room: Room }): ReactElement => <i className="header">{useRoom(room).connection}</i>;
const ChatHeader = ({ chat }: { chat: Chat }): ReactElement => <i className="header">{useChat(chat).connection}</i>;

function List({ chat }: { chat: Chat }): ReactElement | null {
  const store = useChatStore(chat, { storage: null });
  useEffect(() => {
    if (store) stores.add(store);
  }, [store]);
  return store && <Entries store={store} />;
}
/** Every store that was shown. */
export const stores = new Set<ChatStore>();

function Entries({ store }: { store: ChatStore }): ReactElement {
  const live = useStore(store.conversations).filter(({ isLive }) => isLive);
  return (
    <p id="list">
      {live
        .map(({ title }) => title)
        .sort()
        .join()}
    </p>
  );
}

function Call({ url, rtcToken }: AppProps): ReactElement {
  const [room] = useState(() => newRoom(url, rtcToken));
  const { connection, participants, self } = useRoom(room);
  useEffect(() => {
    mounted = room;
  }, [room]);
  const videos = participants.flatMap(({ identity, tracks }) =>
    tracks.filter(({ kind, isSubscribed }) => kind === 'video' && isSubscribed).map((one) => ({ identity, ...one })),
  );
  return (
    <section>
      {useShown().header && <RoomHeader room={room} />}
      <p id="connection">{connection}</p>
      <p id="self">{self?.identity ?? 'nobody'}</p>
      {videos.map(({ identity, trackId, track }) => (
        <Tile key={trackId} track={track} label={identity} />
      ))}
    </section>
  );
}

function newRoom(url: string, token: string): Room {
  const room = new Room({ url, token });
  room.on('connectionStateChanged', (state) => {
    if (state === 'connected') counts.connects += 1;
    if (state === 'disconnected') counts.leaves += 1;
  });
  return room;
}

function Talk({ url, chatToken, conversation: first }: AppProps): ReactElement {
  const [chat] = useState(() => new Chat({ url, token: chatToken }));
  const [ref, setRef] = useState(first);
  const { connection } = useChat(chat);
  const { conversation, error } = useConversation(chat, ref);
  useEffect(() => {
    turnTo = setRef;
  }, []);
  const messages = useMessages(conversation);
  const { header, list } = useShown();
  return (
    <section>
      {header && <ChatHeader chat={chat} />}
      {list && <List chat={chat} />}
      <p id="chat">{error?.code ?? connection}</p>
      <p id="conversation">{conversation?.id ?? 'none'}</p>
      <button type="button" onClick={() => void conversation?.send('from react')}>
        send
      </button>
      <ul>
        {messages.map(({ id, clientMessageId, text }) => (
          <li key={clientMessageId ?? id}>{text}</li>
        ))}
      </ul>
    </section>
  );
}

let root: Root | null = null;
let mounted: Room | null = null;
/** Shows another conversation in the same component. */
export let turnTo: (ref: string) => void = () => {};

/** Shows the others a moving card. */
export async function publishCard(): Promise<void> {
  const { video } = createTestTracks({ width: 320, height: 180, frameRate: 10 });
  await mounted?.self.publish(video, { source: 'CAMERA' });
}

export function mount(props: AppProps): void {
  root = createRoot(document.body.appendChild(document.createElement('main')));
  root.render(
    <StrictMode>
      <Call {...props} />
      <Talk {...props} />
    </StrictMode>,
  );
}

export function unmount(): void {
  root?.unmount();
  root = null;
}
