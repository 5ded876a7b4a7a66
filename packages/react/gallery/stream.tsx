import { ConnectionError, type ParticipantState, type RoomState } from '@parley/client';
import { type LiveStreamState, StreamStage } from '../src/index.ts';
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

/** A host who shows a picture that a canvas draws. */
function host(identity: string, colour: string): ParticipantState {
  const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 });
  const pen = canvas.getContext('2d');
  if (pen) {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 640, 360);
    pen.fillStyle = '#fff';
    pen.font = '64px sans-serif';
    pen.fillText(identity, 220, 200);
  }
  const media = canvas.captureStream(1);
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
      <StreamStage
        state={at({ hosts: [host('ada', '#1f5fd0')] })}
        status="LIVE"
        viewerCount={1204}
        onStartAudio={nothing}
      />
    ),
  },
  {
    name: 'stream-two-hosts',
    element: () => (
      <StreamStage
        state={at({ hosts: [host('ada', '#1f5fd0'), host('bob', '#14713f')] })}
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
        state={at({ hosts: [host('ada', '#1f5fd0')], roomPart: { isAudioBlocked: true } })}
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
