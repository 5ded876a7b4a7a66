import type { CallDevices } from './call-devices.ts';
import { ConnectionError, type SvcError } from './errors.ts';
import type { Emitter } from './events.ts';
import { type DataDeps, sendData } from './media/data.ts';
import { LocalParticipant } from './media/local-participant.ts';
import type { LocalTrack } from './media/local-track.ts';
import type { Transports } from './media/transports.ts';
import { trackOf } from './participant-state.ts';
import type { RoomEvents } from './room-types.ts';
import type { Rpc } from './signal/rpc.ts';
import type { Signal } from './signal/signal-client.ts';
import type { Telemetry } from './signal/telemetry.ts';

export interface CallSelfDeps {
  events: Emitter<RoomEvents>;
  onChange(): void;
  signal: Pick<Signal, 'request' | 'state' | 'whenConnected'>;
  transports: Pick<Transports, 'publisher' | 'subscriber' | 'reporter'>;
  rpc: Rpc;
  devices: CallDevices;
  telemetry: Telemetry;
  onError(error: SvcError): void;
}

/** This participant of a call. */
export function createCallSelf(deps: CallSelfDeps): LocalParticipant {
  const { events, onChange, signal, rpc, telemetry } = deps;
  const { publisher, subscriber, reporter } = deps.transports;

  /** Local media stops at once; without a connection the server learns of it when the session resumes. */
  async function setMuted({ id }: LocalTrack, isMuted: boolean): Promise<void> {
    onChange();
    const track = id && trackOf(self, id);
    if (!track) return;
    events.emit(isMuted ? 'trackMuted' : 'trackUnmuted', track, self);
    try {
      await signal.request({ type: 'track.mute', trackId: id, muted: isMuted });
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }

  const dataPort: DataDeps = {
    channel: subscriber.channel,
    whenReady: subscriber.whenReady,
    sendFrame: (data) => signal.request({ type: 'data', ...data }),
  };

  const self = new LocalParticipant({
    isConnecting: () => signal.state === 'connecting',
    whenConnected: signal.whenConnected,
    async publish(tracks) {
      await publisher.publish(tracks);
      for (const { id, source } of tracks) telemetry.note('track.published', { trackId: id, source });
      onChange();
    },
    onChange,
    async unpublish(track) {
      onChange();
      await publisher.unpublish(track);
    },
    replace: publisher.replace,
    setMuted,
    getStats: publisher.getStats,
    sendData: (payload, options) => sendData(dataPort, payload, options),
    setMetadata: async (metadata) => void (await signal.request({ type: 'participant.update', metadata })),
    rpc: rpc.ask,
    onError: deps.onError,
    chosenDevice: (source) => deps.devices.chosen(source === 'CAMERA' ? 'camera' : 'microphone'),
    onCaptured: deps.devices.captured,
    onDeviceFailed: reporter.deviceFailed,
  });
  return self;
}
