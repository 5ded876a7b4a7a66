import type { RemoteParticipant, Room } from '@parley/client';
import { useCallback, useEffect, useState } from 'react';

/** The topic of data messages that the kit sends; applications keep theirs. */
const TOPIC = 'parley.call';
const SHOWN_MS = 5_000;

/** What goes over the wire, as JSON. */
type Signal = { reaction: string } | { isHandRaised: boolean };

export interface Reactions {
  /** By identity: the last reaction, for a few seconds. */
  reactions: ReadonlyMap<string, string>;
  /** Identities, in the order in which they raised a hand. */
  hands: ReadonlySet<string>;
  react(emoji: string): void;
  raiseHand(isRaised: boolean): void;
}

function signalFrom(data: Uint8Array): Signal | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(data));
    if (typeof value !== 'object' || value === null) return null;
    if ('reaction' in value && typeof value.reaction === 'string') return { reaction: value.reaction.slice(0, 16) };
    return 'isHandRaised' in value ? { isHandRaised: value.isHandRaised === true } : null;
  } catch {
    // Another application's bytes under our topic.
    return null;
  }
}

/** Reactions and raised hands, by data messages between the participants: the service knows nothing of them. */
export function useReactions(room: Room, onError?: (error: unknown) => void): Reactions {
  const [reactions, setReactions] = useState<ReadonlyMap<string, string>>(new Map());
  const [hands, setHands] = useState<ReadonlySet<string>>(new Set());

  const show = useCallback((identity: string, signal: Signal) => {
    if ('isHandRaised' in signal) return setHands((now) => withHand(now, identity, signal.isHandRaised));
    const { reaction } = signal;
    setReactions((now) => new Map(now).set(identity, reaction));
    setTimeout(() => setReactions((now) => without(now, identity, reaction)), SHOWN_MS);
  }, []);

  const send = useCallback(
    (signal: Signal, to?: string[]) => {
      const { self } = room;
      if (to === undefined) show(self.identity, signal);
      self.sendData(JSON.stringify(signal), { topic: TOPIC, ...(to ? { to } : {}) }).catch((error) => onError?.(error));
    },
    [room, show, onError],
  );

  const isRaised = hands.has(room.self.identity);
  useEffect(() => {
    const stops = [
      room.on('dataReceived', (data, from, topic) => {
        const signal = topic === TOPIC ? signalFrom(data) : null;
        if (signal && from) show(from.identity, signal);
      }),
      room.on('participantLeft', ({ identity }) => setHands((now) => withHand(now, identity, false))),
      // Who comes later heard nothing of a hand that is up.
      room.on('participantJoined', ({ identity }: RemoteParticipant) => {
        if (isRaised) send({ isHandRaised: true }, [identity]);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [room, show, send, isRaised]);

  return {
    reactions,
    hands,
    react: useCallback((emoji) => send({ reaction: emoji }), [send]),
    raiseHand: useCallback((raised) => send({ isHandRaised: raised }), [send]),
  };
}

function withHand(hands: ReadonlySet<string>, identity: string, isRaised: boolean): ReadonlySet<string> {
  if (hands.has(identity) === isRaised) return hands;
  return isRaised ? new Set([...hands, identity]) : new Set([...hands].filter((one) => one !== identity));
}

/** Unless another one was shown since. */
function without(shown: ReadonlyMap<string, string>, identity: string, reaction: string): ReadonlyMap<string, string> {
  if (shown.get(identity) !== reaction) return shown;
  return new Map([...shown].filter(([who]) => who !== identity));
}
