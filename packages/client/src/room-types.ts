import type { Credential } from './credential.ts';
import type { Devices } from './devices/devices.ts';
import type { ConnectionError, DisconnectReason, ParleyError, SvcError } from './errors.ts';
import type { LocalParticipant } from './media/local-participant.ts';
import type { LocalTrack } from './media/local-track.ts';
import type { PauseReason, Quality, RemoteParticipant, RemoteTrack, StreamState } from './media/remote-participant.ts';
import type { ConnectionState, ReconnectOptions } from './reconnect.ts';
import type { Permissions, TrackSource } from './signal/records.ts';

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
  /** Videos at once in a large room: those shown, then of who spoke last. Default: all. */
  maxVisible?: number;
  /** Where media should come from, one of your operator's regions. Default: where the room is. */
  region?: string;
  /** Leave when the page is closed, so that the others see it at once. Default true. */
  leaveWithPage?: boolean;
  /** Which camera, microphone and speaker to use; without it, those of the browser's default. */
  devices?: Devices;
  /** Connection steps for the dashboard. Default true. */
  telemetry?: boolean;
  logger?: Logger;
}

/** What an event is about comes first, then whose it is. */
export type RoomEvents = {
  connectionStateChanged: [state: ConnectionState, previous: ConnectionState, error?: ConnectionError];
  participantJoined: [participant: RemoteParticipant];
  participantLeft: [participant: RemoteParticipant, why: DisconnectReason];
  participantUpdated: [participant: Participant];
  /** Your backend changed what this participant may do. What it no longer may publish has ended. */
  permissionsChanged: [permissions: Permissions, participant: LocalParticipant];
  trackPublished: [track: TrackState, participant: RemoteParticipant];
  trackUnpublished: [track: TrackState, participant: RemoteParticipant];
  trackSubscribed: [track: RemoteTrack, participant: RemoteParticipant];
  trackUnsubscribed: [track: RemoteTrack, participant: RemoteParticipant];
  trackMuted: [track: TrackState, participant: Participant];
  trackUnmuted: [track: TrackState, participant: Participant];
  /** The server paused or resumed what it sends of a track: see `track.streamState` and `track.pauseReason`. */
  trackStreamStateChanged: [track: RemoteTrack, participant: RemoteParticipant];
  activeSpeakersChanged: [participants: Participant[]];
  qualityChanged: [quality: Quality, participant: Participant];
  dataReceived: [data: Uint8Array, from: RemoteParticipant | null, topic?: string];
  tokenExpiring: [inSeconds: number];
  audioBlocked: [isBlocked: boolean];
  /** Your backend says that the room is recorded from now on, or no more. */
  recordingChanged: [isRecording: boolean];
  error: [error: SvcError];
};

/** What can be drawn of a call. Everything in it is immutable, and the same object until something in it changes. */
export interface RoomState {
  readonly connection: ConnectionState;
  /** Why the call is interrupted or over; null while it is connected, and when it was left. */
  readonly error: ParleyError | null;
  /** By `Date.now()`. */
  readonly reconnectingSince: number | null;
  /** Sound waits for a gesture of the user: call `room.startAudio()` in a click. */
  readonly isAudioBlocked: boolean;
  /** Your backend says that the room is recorded. */
  readonly isRecording: boolean;
  /** Of this participant's own connection; null while it is not known. */
  readonly quality: Quality | null;
  /** The others. */
  readonly participants: readonly ParticipantState[];
  /** Null until connected. */
  readonly self: ParticipantState | null;
  /** Identities, loudest first. */
  readonly activeSpeakers: readonly string[];
}

export interface ParticipantState {
  readonly identity: string;
  readonly sessionId: string;
  readonly isLocal: boolean;
  /** `name` in the metadata, where that is a JSON object with one; else the identity. */
  readonly name: string;
  readonly metadata: string | null;
  /** What it may do now: your backend can change that in the call. Null of oneself while not connected. */
  readonly permissions: Permissions | null;
  readonly isSpeaking: boolean;
  readonly audioLevel: number;
  readonly quality: Quality | null;
  /** Everything that is published, subscribed or not. */
  readonly tracks: readonly TrackState[];
  /** For actions. */
  readonly participant: Participant;
}

export interface TrackState {
  /** Of an own track that is not published yet, the id of its media. */
  readonly trackId: string;
  readonly kind: 'audio' | 'video';
  readonly source: TrackSource;
  readonly name: string | null;
  /** What its publisher said of it when it was published. */
  readonly metadata: string | null;
  readonly isMuted: boolean;
  /** Your backend muted it. Of others it is known from the moment of the mute on. */
  readonly isMutedByServer: boolean;
  /** `paused`: nothing of it arrives for now, for the reason in `pauseReason`. */
  readonly streamState: StreamState;
  readonly pauseReason: PauseReason | null;
  /** Its media is here; always true of own tracks. */
  readonly isSubscribed: boolean;
  /** To show it: `track.attach()`. Null while it is not subscribed. */
  readonly track: LocalTrack | RemoteTrack | null;
}
