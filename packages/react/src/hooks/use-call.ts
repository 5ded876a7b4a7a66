import type {
  Devices,
  DevicesState,
  ParticipantState,
  Quality,
  Room,
  RoomState,
  TrackSource,
  TrackState,
} from '@parley/client';
import { useStore } from '@parley/client/react';
import { useMemo, useSyncExternalStore } from 'react';

/** One part of the room's state: renders again only when that part is another object. */
function useRoomPart<T>({ state }: Room, select: (snapshot: RoomState) => T): T {
  const read = (): T => select(state.getSnapshot());
  return useSyncExternalStore(state.subscribe, read, read);
}

/** Everybody in the room, oneself first. */
export function useParticipants(room: Room): readonly ParticipantState[] {
  const others = useRoomPart(room, ({ participants }) => participants);
  const self = useRoomPart(room, (state) => state.self);
  return useMemo(() => (self ? [self, ...others] : others), [self, others]);
}

/** One of them, or null while they are not in the room. Without an identity: oneself. */
export function useParticipant(room: Room, identity?: string): ParticipantState | null {
  return useRoomPart(room, (state) => oneOf(state, identity));
}

const oneOf = ({ participants, self }: RoomState, identity: string | undefined): ParticipantState | null =>
  identity === undefined || identity === self?.identity
    ? self
    : (participants.find((one) => one.identity === identity) ?? null);

export interface PublishedTrack {
  participant: ParticipantState;
  track: TrackState;
}

/** What everybody publishes, of these sources or of all. */
export function useTracks(room: Room, sources?: readonly TrackSource[]): readonly PublishedTrack[] {
  const participants = useParticipants(room);
  const wanted = sources?.join();
  return useMemo(
    () =>
      participants.flatMap((participant) =>
        participant.tracks
          .filter(({ source }) => wanted === undefined || wanted.split(',').includes(source))
          .map((track) => ({ participant, track })),
      ),
    [participants, wanted],
  );
}

/** Those who speak now, the loudest first. */
export function useActiveSpeakers(room: Room): readonly ParticipantState[] {
  const participants = useParticipants(room);
  const speakers = useRoomPart(room, ({ activeSpeakers }) => activeSpeakers);
  return useMemo(
    () =>
      speakers
        .map((speaker) => participants.find(({ identity }) => identity === speaker))
        .filter((one) => one !== undefined),
    [participants, speakers],
  );
}

/** How well a participant is connected; without an identity: oneself. */
export function useQuality(room: Room, identity?: string): Quality | null {
  return useRoomPart(room, (state) => {
    const one = oneOf(state, identity);
    return one === state.self ? state.quality : (one?.quality ?? null);
  });
}

/** Microphones, cameras and speakers, and which of them are chosen. */
export const useDevices = (devices: Devices): DevicesState => useStore(devices.state);
