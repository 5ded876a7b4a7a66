import type { CallDevices } from './call-devices.ts';
import type { Emitter } from './events.ts';
import type { AdaptiveStream } from './media/adaptive-stream.ts';
import type { Autoplay } from './media/autoplay.ts';
import { createRemoteParticipants, type RemoteParticipants } from './media/remote-participants.ts';
import type { Reporter } from './media/reporter.ts';
import type { Subscriber } from './media/subscriber.ts';
import type { Participant, RoomEvents } from './room-types.ts';
import type { Signal } from './signal/signal-client.ts';
import type { Telemetry } from './signal/telemetry.ts';

export interface CallParticipantsDeps {
  events: Emitter<RoomEvents>;
  onChange(participant: Participant): void;
  signal: Pick<Signal, 'request'>;
  subscriber: Pick<Subscriber, 'getStats'>;
  adaptive: AdaptiveStream;
  autoplay: Autoplay;
  devices: CallDevices;
  telemetry: Telemetry;
  reporter: Reporter;
}

/** The others of a call: what happens to them becomes events, what the application asks of them becomes frames. */
export function createCallParticipants(deps: CallParticipantsDeps): RemoteParticipants {
  const { events, onChange, signal, subscriber, adaptive, autoplay, devices, telemetry, reporter } = deps;
  return createRemoteParticipants({
    emit(participant, name, ...args) {
      onChange(participant);
      events.emit(name, ...args);
    },
    started({ id, kind }, media) {
      telemetry.note('track.subscribed', { trackId: id });
      if (kind === 'video') reporter.awaitFirstFrame(id, media);
    },
    ended({ id }) {
      telemetry.note('track.unsubscribed', { trackId: id });
      adaptive.forget(id);
    },
    participant: {
      subscribe: async (trackIds) => void (await signal.request({ type: 'subscribe', trackIds })),
      unsubscribe: async (trackIds) => void (await signal.request({ type: 'unsubscribe', trackIds })),
    },
    track: {
      prefer: adaptive.prefer,
      taken: adaptive.take,
      shown(trackId, element, kind) {
        // One that is muted now may be heard later, and must not be heard elsewhere then.
        if (kind === 'audio') devices.attached(element);
        adaptive.show(trackId, element);
      },
      hidden(trackId, element) {
        devices.detached(element);
        autoplay.forget(element);
        adaptive.hide(trackId, element);
      },
      blocked: autoplay.block,
      getStats: subscriber.getStats,
    },
  });
}
