import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { Chat, ChatState } from './chat/chat.ts';
import type { Conversation } from './chat/conversation-types.ts';
import { joinHeld } from './chat/held-join.ts';
import type { Message, PresenceStatus } from './chat/records.ts';
import { watchPresence } from './chat/watch-presence.ts';
import { createChatStore } from './chat-store/chat-store.ts';
import type { ChatStore, ChatStoreOptions } from './chat-store/types.ts';
import { asSvcError, type SvcError } from './errors.ts';
import { hold } from './holds.ts';
import type { LocalTrack } from './media/local-track.ts';
import type { RemoteTrack } from './media/remote-participant.ts';
import type { Room } from './room.ts';
import type { RoomState } from './room-types.ts';
import { createStore, type Store } from './store.ts';

/** The value of any store of this SDK; renders again when it changes. */
export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot);
}

/** Leaving waits a moment: StrictMode and fast refresh unmount and mount again at once. */
const soon = (leave: () => void): void => void setTimeout(leave, 0);

/** Ended when the last of its components unmounts. */
function useConnection(target: Room | Chat, connect: () => Promise<void>, leave: () => Promise<void>): void {
  const actions = useRef({ connect, leave });
  actions.current = { connect, leave };
  useEffect(() => {
    const { leave: end } = actions.current;
    const release = hold(target, 'connection', () => void end());
    // The state's events carry the error; no caller awaits it here.
    actions.current.connect().catch(() => {});
    return () => soon(release);
  }, [target]);
}

/** The service ended the call, for this user or for all: it is joined again by `room.connect()`, never by itself. */
const isEnded = ({ state }: Room): boolean => {
  const { connection, error } = state.getSnapshot();
  return connection === 'disconnected' && error !== null && !error.retryable;
};

/** Connects while a component with it is there. Make the room once: `useState(() => new Room(…))`. */
export function useRoom(room: Room): RoomState {
  useConnection(
    room,
    async () => (isEnded(room) ? undefined : room.connect()),
    () => room.leave(),
  );
  return useStore(room.state);
}

/** Connects while a component with it is there. */
export function useChat(chat: Chat): ChatState {
  useConnection(
    chat,
    () => chat.connect(),
    () => chat.disconnect(),
  );
  return useStore(chat.state);
}

interface Joined {
  conversation: Conversation | null;
  error: SvcError | null;
}

const NOTHING: Joined = { conversation: null, error: null };

/** Joins a conversation once the chat is connected, and leaves it when no component or chat store holds it any more. */
export function useConversation(chat: Chat, ref: string): Joined {
  const [result, setResult] = useState<Joined & { chat: Chat; ref: string }>();
  useEffect(() => {
    let isCurrent = true;
    /** On this connection; a refusal is not asked for again and again. */
    let isTried = false;
    let release: (() => void) | null = null;
    const setJoined = (joined: Joined): void => setResult({ ...joined, chat, ref });
    const join = async (): Promise<void> => {
      const isConnected = chat.state.getSnapshot().connection === 'connected';
      const isDue = isConnected && !isTried && !release;
      isTried = isConnected;
      if (!isDue) return;
      try {
        const held = await joinHeld(chat, ref);
        const releaseSoon = (): void => soon(held.release);
        if (!isCurrent || release) return releaseSoon();
        release = releaseSoon;
        setJoined({ conversation: held.conversation, error: null });
      } catch (error) {
        if (isCurrent) setJoined({ conversation: null, error: asSvcError(error) });
      }
    };
    const stop = chat.state.subscribe(() => void join());
    void join();
    return () => {
      isCurrent = false;
      stop();
      release?.();
    };
  }, [chat, ref]);
  // What was joined before is of another name.
  return result?.chat === chat && result.ref === ref ? result : NOTHING;
}

/**
 * A chat store while the component is there: null in the first render, closed after the last. The options are those of
 * the first render.
 */
export function useChatStore(chat: Chat, options?: ChatStoreOptions): ChatStore | null {
  const first = useRef(options);
  /** Outlives an effect that StrictMode runs twice. */
  const made = useRef<{ chat: Chat; store: ChatStore } | null>(null);
  const [shown, setShown] = useState(made.current);
  useEffect(() => {
    const known = made.current?.chat === chat ? made.current : { chat, store: createChatStore(chat, first.current) };
    made.current = known;
    setShown(known);
    const release = hold(known, 'store', () => {
      if (made.current === known) made.current = null;
      known.store.close();
    });
    return () => soon(release);
  }, [chat]);
  // The one before is of another chat.
  return shown?.chat === chat ? shown.store : null;
}

const noMessages = createStore<readonly Message[]>([]);

/** Oldest first; empty until there is a conversation. */
export function useMessages(conversation: Conversation | null): readonly Message[] {
  return useStore(conversation?.messages ?? noMessages);
}

/** Who is in the conversation now, this user included, by user id. Read again after a lost connection. */
export function usePresence(conversation: Conversation | null): ReadonlyMap<string, PresenceStatus> {
  const [present, setPresent] = useState<ReadonlyMap<string, PresenceStatus>>(NOBODY);
  useEffect(() => (conversation ? watchPresence(conversation, setPresent) : setPresent(NOBODY)), [conversation]);
  return present;
}

const NOBODY: ReadonlyMap<string, PresenceStatus> = new Map();

/** For the `ref` of a `<video>` or `<audio>` element that shows this track. */
export function useTrackRef(track: RemoteTrack | LocalTrack | null): (element: HTMLMediaElement | null) => void {
  const shown = useRef<HTMLMediaElement | null>(null);
  return useCallback(
    (element) => {
      if (shown.current) track?.detach(shown.current);
      shown.current = element;
      if (element) track?.attach(element);
    },
    [track],
  );
}
