export { checkConnection } from './check-connection.ts';
export type { CheckOptions, CheckStep } from './check-types.ts';
export type { Credential } from './credential.ts';
export type { Device, DeviceKind, DevicesState } from './devices/device-list.ts';
export { createDevices, type Devices, type DevicesOptions } from './devices/devices.ts';
export { createLevelMeter, type LevelMeter } from './devices/level-meter.ts';
export {
  ApiError,
  ConnectionError,
  type DisconnectReason,
  MediaError,
  ParleyError,
  PermissionError,
  RateLimitError,
  SvcError,
} from './errors.ts';
export { LiveStream, type LiveStreamOptions, type StreamCredentials } from './live-stream.ts';
export {
  type CameraOptions,
  captureCamera,
  captureMicrophone,
  type DeviceOptions,
  type MicrophoneOptions,
  type ScreenOptions,
} from './media/capture.ts';
export type { DataOptions } from './media/data.ts';
export type { AudioEncodingOptions, EncodingOptions, VideoEncodingOptions } from './media/encodings.ts';
export type { LocalParticipant, PublishOptions } from './media/local-participant.ts';
export type { LocalTrack } from './media/local-track.ts';
export type {
  PauseReason,
  Quality,
  RemoteParticipant,
  RemoteTrack,
  StreamState,
  TrackQuality,
} from './media/remote-participant.ts';
export { createTestTracks, type TestTracks, type TestTracksOptions } from './media/test-tracks.ts';
export type { ProcessorOptions, TrackProcessor } from './media/track-processor.ts';
export type { ConnectionState, ReconnectOptions } from './reconnect.ts';
export { Room } from './room.ts';
export type {
  Logger,
  Participant,
  ParticipantState,
  RoomEvents,
  RoomOptions,
  RoomState,
  TrackState,
} from './room-types.ts';
export type { ConnectOptions } from './session.ts';
export type { Permissions, TrackSource } from './signal/records.ts';
export type { RpcHandler } from './signal/rpc-exchange.ts';
export type { Store } from './store.ts';
