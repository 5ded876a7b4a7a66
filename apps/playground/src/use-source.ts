import { createTestTracks, type Room, type TestTracks } from '@parley/client';
import type { JoinChoices, PreJoinProps } from '@parley/react';
import { useEffect, useMemo, useRef, useState } from 'react';

export type Source = 'camera' | 'card' | 'none';

/** Small enough that two of them and their decoders fit beside each other on any machine. */
export const cardSize = { width: 640, height: 360, frameRate: 20 } as const;

/** The test card where there is no camera, until the user chooses. */
export function useSource(): [source: Source, choose: (source: Source) => void] {
  const [chosen, choose] = useState<Source | null>(null);
  const [hasCamera, setHasCamera] = useState(false);
  useEffect(() => {
    navigator.mediaDevices
      ?.enumerateDevices()
      .then((devices) => setHasCamera(devices.some(({ kind }) => kind === 'videoinput')))
      .catch(() => {});
  }, []);
  return [chosen ?? (hasCamera ? 'camera' : 'card'), choose];
}

/** In place of devices before a call: the card, or nothing. */
export function useCardPreview(source: Source): PreJoinProps['capture'] {
  const card = useRef<TestTracks | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a card ends with its choice.
  useEffect(
    () => () => {
      card.current?.stop();
      card.current = null;
    },
    [source],
  );
  return useMemo(() => {
    if (source === 'camera') return undefined;
    if (source === 'none') return { camera: null, microphone: null };
    // Made when it is first shown, so that one can join before.
    const made = (): TestTracks => {
      card.current ??= createTestTracks({ label: 'Test card', ...cardSize });
      return card.current;
    };
    return { camera: async () => made().video.clone(), microphone: async () => made().audio.clone() };
  }, [source]);
}

/** Publishes the card, or nothing; undefined for devices, which the call publishes by itself. */
export function usePublish(source: Source): ((room: Room, choices: JoinChoices) => Promise<void>) | undefined {
  const card = useRef<TestTracks | null>(null);
  useEffect(() => () => card.current?.stop(), []);
  if (source === 'camera') return undefined;
  return async (room, choices) => {
    if (source === 'none') return;
    card.current?.stop();
    card.current = await publishCard(room, choices);
  };
}

type Choices = Pick<JoinChoices, 'name' | 'hasCamera' | 'hasMicrophone'>;

async function publishCard(room: Room, { name, hasCamera, hasMicrophone }: Choices): Promise<TestTracks> {
  const card = createTestTracks({ label: name, ...cardSize });
  const picture = await room.self.publish(card.video, { source: 'CAMERA' });
  if (!hasCamera) await picture.mute();
  const sound = await room.self.publish(card.audio, { source: 'MICROPHONE' });
  if (!hasMicrophone) await sound.mute();
  return card;
}

/** Publishes what was chosen, once the room is joined; gives what stops the card. */
async function publishSource(room: Room, source: Source, choices: JoinChoices): Promise<TestTracks | null> {
  if (source === 'card') return publishCard(room, choices);
  if (source === 'camera') {
    if (choices.hasMicrophone) await room.self.setMicrophone(true);
    if (choices.hasCamera) await room.self.setCamera(true);
  }
  return null;
}

/** Publishes as soon as the room is connected, and stops the card with the page. */
export function usePublishedSource(
  room: Room,
  source: Source,
  choices: JoinChoices,
  onDone: (error?: unknown) => void,
): void {
  const given = useRef({ source, choices, onDone });
  given.current = { source, choices, onDone };
  useEffect(() => {
    let card: TestTracks | null = null;
    let isGone = false;
    const publish = async (): Promise<void> => {
      const { source: what, choices: chosen, onDone: done } = given.current;
      try {
        card = await publishSource(room, what, chosen);
        if (isGone) card?.stop();
        done();
      } catch (error) {
        done(error);
      }
    };
    const stop = room.on('connectionStateChanged', (state, previous) => {
      if (state === 'connected' && previous === 'connecting' && room.self.tracks.size === 0) void publish();
    });
    return () => {
      isGone = true;
      stop();
      card?.stop();
    };
  }, [room]);
}
