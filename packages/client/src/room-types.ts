import type { Credential } from './credential.ts';
import type { Devices } from './devices/devices.ts';
import type { ConnectionError, DisconnectReason, SvcError } from './errors.ts';
import type { LocalParticipant } from './media/local-participant.ts';
import type { Quality, RemoteParticipant, RemoteTrack } from './media/remote-participant.ts';
import type { ConnectionState, ReconnectOptions } from './reconnect.ts';

export type Participant = LocalParticipant | RemoteParticipant;

export interface Logger {
  debug(message: string, data?: unknown): void;
  warn(message: string, data?: unknown): void;
}

export interface RoomOptions {
  /** Address of the service, `https://rtc.example.com`. */
  url: string;
  /** An RTC token, or a function that fetches one from your backend. */
  token: Credential;
  reconnect?: ReconnectOptions | false;
  /** False: tracks are taken with `participant.subscribe()`. Default true. */
  autoSubscribe?: boolean;
  /** Take each video as large as it is shown. Default true. */
  adaptiveStream?: boolean;
  /** Leave when the page is closed, so that the others see it at once. Default true. */
  leaveWithPage?: boolean;
  /** Which camera, microphone and speaker to use; without it, those of the browser's default. */
  devices?: Devices;
  /** Connection steps for the dashboard. Default true. */
  telemetry?: boolean;
  logger?: Logger;
}

export type RoomEvents = {
  connectionStateChanged: [state: ConnectionState, previous: ConnectionState, error?: ConnectionError];
  participantJoined: [participant: RemoteParticipant];
  participantLeft: [participant: RemoteParticipant, why: DisconnectReason];
  participantUpdated: [participant: Participant];
  trackPublished: [participant: RemoteParticipant, trackId: string, kind: 'audio' | 'video'];
  trackUnpublished: [participant: RemoteParticipant, trackId: string];
  trackSubscribed: [track: RemoteTrack, participant: RemoteParticipant];
  trackUnsubscribed: [track: RemoteTrack, participant: RemoteParticipant];
  trackMuted: [trackId: string, participant: Participant];
  trackUnmuted: [trackId: string, participant: Participant];
  /** The server paused or resumed what it sends of a track: see `track.streamState` and `track.pauseReason`. */
  trackStreamStateChanged: [track: RemoteTrack, participant: RemoteParticipant];
  activeSpeakersChanged: [participants: Participant[]];
  qualityChanged: [quality: Quality, participant: Participant];
  dataReceived: [data: Uint8Array, from: RemoteParticipant | null, topic?: string];
  tokenExpiring: [inSeconds: number];
  audioBlocked: [isBlocked: boolean];
  error: [error: SvcError];
};

export interface RoomState {
  connection: ConnectionState;
  participants: readonly RemoteParticipant[];
  /** Null until connected. */
  self: LocalParticipant | null;
}
