import type { SignalingServerFrames } from '@parley/contract';
import { asSvcError, ConnectionError, errorFrom, type SvcError } from './errors.ts';
import type { Emitter } from './events.ts';
import type { FrameHandlers } from './frames.ts';
import { payloadOf } from './media/data.ts';
import type { LocalParticipant } from './media/local-participant.ts';
import type { Publisher } from './media/publisher.ts';
import type { RemoteParticipants } from './media/remote-participants.ts';
import type { Subscriber } from './media/subscriber.ts';
import type { Vitals } from './media/vitals.ts';
import { trackOf } from './participant-state.ts';
import type { RoomEvents } from './room-types.ts';
import type { ParticipantRecord } from './signal/records.ts';
import type { Roster, RosterFrame } from './signal/roster.ts';
import type { Rpc } from './signal/rpc.ts';
import type { CallFrame } from './signal/signal-client.ts';

export interface CallFrameDeps {
  events: Emitter<RoomEvents>;
  self: LocalParticipant;
  roster: Roster;
  others: RemoteParticipants;
  publisher: Publisher;
  subscriber: Subscriber;
  vitals: Vitals;
  rpc: Rpc;
  onSelfChanged(): void;
  onData(payload: Uint8Array, from: string | null, topic: string | undefined): void;
  onError(error: SvcError): void;
}

export type CallFrameHandlers = FrameHandlers<SignalingServerFrames, CallFrame['type']>;

/** What a call does with each frame of the signaling socket. */
export function createCallFrameHandlers(deps: CallFrameDeps): CallFrameHandlers {
  const { events, self, roster, others, publisher, subscriber, vitals, rpc, onSelfChanged, onError } = deps;
  const fail = (error: unknown): void => onError(asSvcError(error));

  /** The room's events come for this participant too, who knows most of it already. */
  function handleParticipant(frame: Extract<RosterFrame, { participant: ParticipantRecord }>): void {
    const { identity, sessionId, metadata } = frame.participant;
    if (identity !== self.identity) {
      roster.take(frame);
      return;
    }
    if (sessionId === self.sessionId) self.metadata = metadata;
    onSelfChanged();
  }

  function handleOther(frame: Extract<RosterFrame, { identity: string }>): void {
    if (frame.identity !== self.identity) roster.take(frame);
  }

  return {
    'participant.joined': handleParticipant,
    'participant.updated': handleParticipant,
    'participant.left': handleOther,
    'track.published': handleOther,
    'track.unpublished': handleOther,
    'track.muted': handleOther,
    'sub.offer': (offer) => {
      // The server repeats the offer after a lost connection; after any other failure the transport is replaced.
      subscriber.offer(offer).catch((error) => error instanceof ConnectionError || fail(error));
    },
    'stream.state': others.streamChanged,
    'publish.quality': ({ trackId, layers }) => void publisher.setLayers(trackId, layers).catch(fail),
    speakers: ({ speakers }) => vitals.updateSpeakers(speakers),
    quality: ({ updates }) => vitals.updateQuality(updates),
    data: (frame) => deps.onData(payloadOf(frame), frame.from, frame.topic ?? undefined),
    'rpc.request': rpc.receiveRequest,
    'rpc.response': rpc.receiveResponse,
    'permissions.changed': ({ permissions }) => {
      self.permissions = permissions;
      onSelfChanged();
    },
    'server.mute': ({ trackId, muted }) => {
      [...self.tracks].find(({ id }) => id === trackId)?.mutedByServer(muted);
      onSelfChanged();
      const track = trackOf(self, trackId);
      if (track) events.emit(muted ? 'trackMuted' : 'trackUnmuted', track, self);
    },
    error: (frame) => onError(errorFrom(frame)),
    // The SDK does not show the room's own record.
    'room.updated': () => {},
    // The close code that follows says it again.
    'room.closed': () => {},
  };
}
