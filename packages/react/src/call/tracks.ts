import type { ParticipantState, TrackState } from '@parley/client';

type Tracks = Pick<ParticipantState, 'tracks'>;

/** What shows the person: the camera, or a picture of the application's own that has no source. */
export const cameraOf = ({ tracks }: Tracks): TrackState | null =>
  tracks.find(({ source }) => source === 'CAMERA') ??
  tracks.find(({ kind, source }) => kind === 'video' && source === 'UNKNOWN') ??
  null;

export const screenOf = ({ tracks }: Tracks): TrackState | null =>
  tracks.find(({ source }) => source === 'SCREEN_SHARE') ?? null;

export const microphoneOf = ({ tracks }: Tracks): TrackState | null =>
  tracks.find(({ source }) => source === 'MICROPHONE') ??
  tracks.find(({ kind, source }) => kind === 'audio' && source === 'UNKNOWN') ??
  null;

export const isOn = (track: TrackState | null): boolean => track !== null && !track.isMuted;

/** Of a camera that is off the last picture would stay. */
export const isShown = (track: TrackState | null): boolean => isOn(track) && track?.track !== null;
