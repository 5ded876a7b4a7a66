import type { SignalingServerFrames } from '@parley/contract';
import type { CallLifecycle } from './call-lifecycle.ts';
import { asSvcError, ConnectionError, errorFrom, type SvcError } from './errors.ts';
import type { Emitter } from './events.ts';
import type { FrameHandlers } from './frames.ts';
import { payloadOf } from './media/data.ts';
import type { LocalParticipant } from './media/local-participant.ts';
import type { ParticipantStatus } from './media/participant-status.ts';
import type { Publisher } from './media/publisher.ts';
import type { RemoteParticipants } from './media/remote-participants.ts';
import type { Subscriber } from './media/subscriber.ts';
import { trackOf } from './participant-state.ts';
import type { RoomEvents } from './room-types.ts';
import type { ParticipantRecord } from './signal/records.ts';
import type { Rpc } from './signal/rpc.ts';
import type { CallFrame } from './signal/signal-client.ts';

export interface CallFrameDeps {
  events: Emitter<RoomEvents>;
  lifecycle: Pick<CallLifecycle, 'permitted' | 'roomUpdated'>;
  self: LocalParticipant;
  others: RemoteParticipants;
  publisher: Publisher;
  subscriber: Subscriber;
  status: ParticipantStatus;
  rpc: Rpc;
  onSelfChanged(): void;
  onData(payload: Uint8Array, from: string | null, topic: string | undefined): void;
  onError(error: SvcError): void;
}

export type CallFrameHandlers = FrameHandlers<SignalingServerFrames, CallFrame['type']>;

/** What a call does with each frame of the signaling socket. */
export function createCallFrameHandlers(deps: CallFrameDeps): CallFrameHandlers {
  const { events, lifecycle, self, others, publisher, subscriber, status, rpc, onSelfChanged, onError } = deps;
  const fail = (error: unknown): void => onError(asSvcError(error));

  /** The room's events come for this participant too, who knows most of it already. */
  function selfOr(take: (record: ParticipantRecord) => void) {
    return ({ participant }: { participant: ParticipantRecord }): void => {
      const { identity, sessionId, metadata } = participant;
      if (identity === self.identity) {
        if (sessionId === self.sessionId) self.metadata = metadata;
        onSelfChanged();
      } else take(participant);
    };
  }

  return {
    'participant.joined': selfOr(others.joined),
    'participant.updated': selfOr(others.updated),
    'participant.left': others.left,
    'track.published': others.published,
    'track.unpublished': others.unpublished,
    'track.muted': others.muted,
    'sub.offer': (offer) => {
      // The server repeats the offer after a lost connection; after any other failure the transport is replaced.
      subscriber.offer(offer).catch((error) => error instanceof ConnectionError || fail(error));
    },
    'stream.state': others.streamChanged,
    'stream.states': ({ states }) => states.forEach(others.streamChanged),
    'publish.quality': ({ trackId, layers, backup }) => void publisher.setLayers(trackId, layers, backup).catch(fail),
    speakers: ({ speakers }) => status.updateSpeakers(speakers),
    quality: ({ updates }) => status.updateQuality(updates),
    data: (frame) => deps.onData(payloadOf(frame), frame.from, frame.topic ?? undefined),
    'rpc.request': rpc.receiveRequest,
    'rpc.response': rpc.receiveResponse,
    'permissions.changed': ({ permissions }) => {
      lifecycle.permitted(permissions);
      onSelfChanged();
    },
    'server.mute': ({ trackId, muted }) => {
      [...self.tracks].find(({ id }) => id === trackId)?.mutedByServer(muted);
      onSelfChanged();
      const track = trackOf(self, trackId);
      if (track) events.emit(muted ? 'trackMuted' : 'trackUnmuted', track, self);
    },
    error: (frame) => onError(errorFrom(frame)),
    'room.updated': ({ room }) => lifecycle.roomUpdated(room),
    // The close code that follows says it again.
    'room.closed': () => {},
  };
}
