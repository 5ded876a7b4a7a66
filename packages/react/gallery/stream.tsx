import { ConnectionError, type ParticipantState, type RoomState } from '@parley/client';
import { type LiveStreamState, StreamStage } from '../src/index.ts';
import { pictureOf } from './fakes.ts';
import type { Exhibit } from './gallery.ts';

const room: RoomState = {
  connection: 'connected',
  error: null,
  reconnectingSince: null,
  isAudioBlocked: false,
  isRecording: false,
  quality: 'good',
  participants: [],
  self: null,
  activeSpeakers: [],
};

/** A host who shows a picture of a person. */
function host(identity: string, seed: number): ParticipantState {
  const media = pictureOf(seed, false);
  const track = {
    attach(element: HTMLMediaElement) {
      element.srcObject = media;
      return element;
    },
    detach(element: HTMLMediaElement) {
      element.srcObject = null;
    },
  };
  return {
    identity,
    name: identity,
    tracks: [{ trackId: identity, kind: 'video', source: 'CAMERA', isMuted: false, track }],
  } as unknown as ParticipantState;
}

const at = (part: Partial<LiveStreamState> & { roomPart?: Partial<RoomState> }): LiveStreamState => ({
  conversation: null,
  role: 'VIEWER',
  hosts: [],
  isEnded: false,
  error: null,
  ...part,
  room: { ...room, ...part.roomPart },
});

const nothing = (): void => {};

export const streamExhibits: readonly Exhibit[] = [
  {
    name: 'stream-connecting',
    element: () => <StreamStage state={at({ roomPart: { connection: 'connecting' } })} onStartAudio={nothing} />,
  },
  { name: 'stream-created', element: () => <StreamStage state={at({})} status="CREATED" onStartAudio={nothing} /> },
  {
    name: 'stream-waiting',
    element: () => <StreamStage state={at({})} status="LIVE" viewerCount={1} onStartAudio={nothing} />,
  },
  {
    name: 'stream-live',
    element: () => (
      <StreamStage state={at({ hosts: [host('ada', 0)] })} status="LIVE" viewerCount={1204} onStartAudio={nothing} />
    ),
  },
  {
    name: 'stream-two-hosts',
    element: () => (
      <StreamStage
        state={at({ hosts: [host('ada', 0), host('bob', 1)] })}
        status="LIVE"
        viewerCount={12}
        onStartAudio={nothing}
      />
    ),
  },
  {
    name: 'stream-audio-blocked',
    element: () => (
      <StreamStage
        state={at({ hosts: [host('ada', 0)], roomPart: { isAudioBlocked: true } })}
        status="LIVE"
        viewerCount={3}
        onStartAudio={nothing}
      />
    ),
  },
  {
    name: 'stream-reconnecting',
    element: () => (
      <StreamStage state={at({ roomPart: { connection: 'reconnecting' } })} status="LIVE" onStartAudio={nothing} />
    ),
  },
  {
    name: 'stream-error',
    element: () => (
      <StreamStage
        state={at({
          error: new ConnectionError('token_expired'),
          roomPart: { connection: 'disconnected' },
        })}
        onStartAudio={nothing}
      />
    ),
  },
  {
    name: 'stream-ended',
    element: () => <StreamStage state={at({ isEnded: true })} status="ENDED" viewerCount={9} onStartAudio={nothing} />,
  },
];
