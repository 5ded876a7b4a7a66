import type { FrameData, SignalingClientFrames, SignalingServerFrames } from '@parley/contract';
import {
  answerDelta,
  apply,
  DATA_CHANNELS,
  type DataChannelName,
  type DataMessage,
  type Description,
  fromSdp,
  type MediaEntry,
  toSdp,
} from '@parley/media-description';
import { createDeferred, type Deferred } from '../deferred.ts';
import { ConnectionError, MediaError } from '../errors.ts';
import { createSerialQueue } from '../serial-queue.ts';
import { closePeer, whileOpen } from './closed-peer.ts';
import { readData } from './data.ts';

export interface SubscriberDeps {
  newPeerConnection(): RTCPeerConnection;
  answer(answer: FrameData<SignalingClientFrames['sub.answer']>): Promise<unknown>;
  /** Asks for another transport; `received`: reliable messages that this one brought. */
  restart(received: number): Promise<unknown>;
  onTrack(trackId: string, media: MediaStreamTrack): void;
  onTrackGone(trackId: string): void;
  onData(message: DataMessage): void;
  onError(error: MediaError): void;
  onState(state: RTCPeerConnectionState): void;
  /** An offer could not be answered: this transport takes no further one. */
  onFailed(): void;
}

export type SubOffer = FrameData<SignalingServerFrames['sub.offer']>;

export interface Subscriber {
  offer(offer: SubOffer): Promise<void>;
  /** Another transport is to take the place of this one, with what this one has not brought. */
  restart(): Promise<void>;
  /** The open channel, or null. */
  channel(name: DataChannelName): RTCDataChannel | null;
  /** Until receivers can take reliable data; rejects when one of them cannot. */
  whenReady(): Promise<void> | undefined;
  getStats(trackId: string): Promise<RTCStatsReport | null>;
  /** The id of the track on a line. */
  trackAt(mid: string): string | null;
  readonly peer: RTCPeerConnection | null;
  /** Everything that arrived is gone. */
  close(): void;
}

/** The `sub` side: one peer connection that brings what the others send, and data both ways. The node offers. */
export function createSubscriber(deps: SubscriberDeps): Subscriber {
  let peer: RTCPeerConnection | null = null;
  let remote: Description | undefined;
  let isAnswered = false;
  /** Line → the track it carries. */
  const tracks = new Map<string, string>();
  const channels = new Map<DataChannelName, RTCDataChannel>();
  /** Reliable messages of others that this transport brought. */
  let received = 0;
  /** What it brings after the node was told how many: that comes again on the next one. */
  let late: Uint8Array[] | undefined;
  /** Requests to replace this transport that have not failed. */
  let asked = 0;
  /** While receivers cannot take reliable data. */
  let held: Deferred<void> | undefined;
  const takeTurn = createSerialQueue();
  /** Of the newest offer: an answer to one before it is refused, and nothing is lost by that. */
  let latest = 0;
  /** One after the other: offers of a call that has ended are not answered in the next. */
  let call = 0;

  function open(): RTCPeerConnection {
    drop();
    const opened = deps.newPeerConnection();
    opened.onconnectionstatechange = () => {
      if (peer !== opened) return;
      recover();
      deps.onState(opened.connectionState);
    };
    for (const name of ['reliable', 'lossy'] as const) {
      const channel = opened.createDataChannel(name, { negotiated: true, ...DATA_CHANNELS[name] });
      channel.binaryType = 'arraybuffer';
      channel.onmessage = ({ data }) => {
        const bytes = new Uint8Array(data);
        // An empty head: the node speaks.
        if (!bytes[0] && !bytes[1]) onFlow(bytes[2]);
        else if (name === 'lossy') deps.onData(readData(bytes));
        else if (late) late.push(bytes);
        else onReliable(bytes);
      };
      channels.set(name, channel);
    }
    peer = opened;
    return opened;
  }

  function onReliable(bytes: Uint8Array): void {
    received += 1;
    deps.onData(readData(bytes));
  }

  /** It works again, and nothing of it comes by another one. */
  function recover(): void {
    if (!asked && peer?.connectionState === 'connected') late = void late?.forEach(onReliable);
  }

  /** See `DATA_FLOW`. */
  function onFlow(state?: number): void {
    if (state && !held) {
      held = createDeferred();
      held.promise.catch(deps.onError);
    }
    if (state === 1) return;
    if (state) held?.reject(new MediaError(MISSED));
    held?.resolve();
    held = undefined;
  }

  function drop(): void {
    onFlow();
    closePeer(peer);
    peer = null;
    received = 0;
    late = undefined;
    asked = 0;
    remote = undefined;
    isAnswered = false;
    channels.clear();
    for (const mid of [...tracks.keys()]) forget(mid);
  }

  function forget(mid: string): void {
    const trackId = tracks.get(mid);
    tracks.delete(mid);
    if (trackId) deps.onTrackGone(trackId);
  }

  async function answer({ revision, restart, description }: SubOffer): Promise<void> {
    // A whole offer of another transport: the node built a new one.
    const isNew = restart || (description.ice && description.ice.ufrag !== remote?.ice?.ufrag);
    const pc = isNew || !peer ? open() : peer;
    const offered = apply(remote, description);
    remote = offered;
    try {
      await whileOpen(pc, describe(pc, toSdp(offered)));
      const answered = fromSdp(pc.localDescription?.sdp ?? '');
      await deps.answer({ revision, description: answerDelta(offered, answered, !isAnswered) });
    } catch (error) {
      // Closed or offered anew by now: no caller waits for it.
      if (peer === pc && revision === latest) {
        if (!isConnectionLost(error)) deps.onFailed();
        throw error;
      }
    }
    if (peer !== pc) return;
    isAnswered = true;
    notice(pc, offered.media);
  }

  /** Which tracks came and went: a line may carry another one than before. */
  function notice(pc: RTCPeerConnection, media: readonly MediaEntry[]): void {
    for (const { mid, kind, direction, trackId } of media) {
      if (kind === 'data') continue;
      const current = direction === 'sendonly' ? trackId : undefined;
      if (tracks.get(mid) === current) continue;
      forget(mid);
      const line = pc.getTransceivers().find((one) => one.mid === mid);
      if (!current || !line) continue;
      tracks.set(mid, current);
      deps.onTrack(current, line.receiver.track);
    }
  }

  return {
    offer(offer) {
      const mine = call;
      latest = offer.revision;
      return takeTurn(async () => {
        if (mine === call) await answer(offer);
      });
    },
    async restart() {
      const of = peer;
      late ??= [];
      asked += 1;
      try {
        await deps.restart(received);
      } catch (error) {
        if (peer === of) {
          asked -= 1;
          recover();
        }
        throw error;
      }
    },
    channel(name) {
      const channel = channels.get(name);
      return channel?.readyState === 'open' ? channel : null;
    },
    whenReady: () => held?.promise,
    async getStats(trackId) {
      const mid = [...tracks].find(([, id]) => id === trackId)?.[0];
      const line = peer?.getTransceivers().find((one) => one.mid === mid);
      return (await line?.receiver.getStats()) ?? null;
    },
    trackAt: (mid) => tracks.get(mid) ?? null,
    get peer() {
      return peer;
    },
    close() {
      call += 1;
      drop();
    },
  };
}

const MISSED = { code: 'data_missed', message: 'A receiver misses data.' };

/** The server repeats the offer when the connection is back; a mere timeout leaves it as it was. */
const isConnectionLost = (error: unknown): boolean => error instanceof ConnectionError && error.code !== 'timeout';

/** Chromium plays what comes in stereo as mono unless its own answer asks for stereo; Firefox asks by itself. */
async function describe(pc: RTCPeerConnection, offer: string): Promise<void> {
  await pc.setRemoteDescription({ type: 'offer', sdp: offer });
  const { type, sdp = '' } = await pc.createAnswer();
  const asks = sdp.includes('stereo=1');
  await pc.setLocalDescription({ type, sdp: asks ? sdp : sdp.replaceAll('useinbandfec=1', 'useinbandfec=1;stereo=1') });
}
