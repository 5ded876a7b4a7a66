import type { MediaTransportState } from '@parley/contract/media-control';
import {
  DATA_CHANNELS,
  DATA_MESSAGE_BYTES_MAX,
  type DataChannelName,
  type Description,
  fromSdp,
} from '@parley/media-description';
import { toTransportSdp } from '@parley/media-description/transport-sdp';
import * as native from 'node-datachannel';
import type { Certificate } from './certificate.ts';
import { newIceCredentials } from './ice-credentials.ts';
import { forgottenOnceClosed } from './native-part.ts';

export interface PeerTransportListener {
  /** Media can be sent from now on. */
  open?(): void;
  /** RTP or RTCP, decrypted. The buffer is ours to keep. */
  packet(buffer: Buffer): void;
  state(state: MediaTransportState): void;
  data(channel: DataChannelName, message: Uint8Array): void;
}

interface PeerTransportOptions {
  name: string;
  /** Shared by every transport of the process. */
  udpPort: number;
  bindAddress: string | undefined;
  certificate: Certificate;
  /** Of the node: ICE passwords follow from it. */
  iceKey: Buffer;
  hasData: boolean;
  listener: PeerTransportListener;
  /** A callback of ours threw: a bug, but never one that may end the process. */
  onError(error: unknown): void;
}

type LocalParameters = Required<Pick<Description, 'ice' | 'dtls'>>;

const STATES: Record<string, MediaTransportState> = {
  new: 'NEW',
  connecting: 'CONNECTING',
  connected: 'CONNECTED',
  disconnected: 'DISCONNECTED',
  failed: 'FAILED',
  closed: 'CLOSED',
};
const QUEUED_BYTES_MAX = 1 << 20;
/** From here on a reader is slow: what its senders have on the way to us still fits. */
export const QUEUED_BYTES_SLOW = 1 << 18;
export const QUEUED_BYTES_DRAINED = 1 << 17;

/**
 * ICE, DTLS, SRTP and SCTP toward one peer. An exception that reaches the native side ends the process, so every
 * callback and every call that can throw is wrapped here, and nothing outside this file touches the library.
 */
export class PeerTransport {
  readonly #connection: native.PeerConnection;
  readonly #track: native.Track;
  readonly #channels = new Map<DataChannelName, native.DataChannel>();
  readonly #options: PeerTransportOptions;
  #state: MediaTransportState = 'NEW';
  #offered: LocalParameters['ice'] | undefined;
  #isOpen = false;
  #isClosed = false;
  /** The ICE session of a client that made the offer. */
  remoteUfrag: string | undefined;
  sentBytes = 0;
  receivedBytes = 0;
  sentPackets = 0;

  constructor(options: PeerTransportOptions) {
    this.#options = options;
    this.#connection = new native.PeerConnection(options.name, {
      iceServers: [],
      enableIceUdpMux: true,
      portRangeBegin: options.udpPort,
      portRangeEnd: options.udpPort,
      ...(options.bindAddress && { bindAddress: options.bindAddress }),
      certificatePemFile: options.certificate.certificatePem,
      keyPemFile: options.certificate.keyPem,
      disableAutoNegotiation: true,
      forceMediaTransport: true,
      maxMessageSize: DATA_MESSAGE_BYTES_MAX,
    });
    this.#connection.onStateChange(this.#guard((state: string) => this.#onState(STATES[state] ?? 'NEW')));
    const media = new native.Video('0', 'SendRecv');
    media.addVP8Codec(96);
    this.#track = forgottenOnceClosed(this.#connection.addTrack(media));
    this.#track.onOpen(
      this.#guard(() => {
        this.#isOpen = true;
        options.listener.open?.();
      }),
    );
    this.#track.onMessage(this.#guard((message: Buffer) => this.#onPacket(message)));
    if (options.hasData) this.#openChannels();
  }

  #guard<Args extends unknown[]>(callback: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      if (this.#isClosed) return;
      try {
        callback(...args);
      } catch (error) {
        this.#options.onError(error);
      }
    };
  }

  #onState(state: MediaTransportState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#options.listener.state(state);
  }

  #onPacket(message: Buffer): void {
    this.receivedBytes += message.length;
    this.#options.listener.packet(message);
  }

  #openChannels(): void {
    for (const name of ['reliable', 'lossy'] as const) {
      const { id } = DATA_CHANNELS[name];
      const isLossy = name === 'lossy';
      const settings = { negotiated: true, id, ...(isLossy && { unordered: true, maxRetransmits: 0 }) };
      const channel = forgottenOnceClosed(this.#connection.createDataChannel(name, settings));
      channel.onMessage(
        this.#guard((message: string | Buffer | ArrayBuffer) => {
          const bytes = typeof message === 'string' ? Buffer.from(message) : new Uint8Array(message);
          this.#options.listener.data(name, bytes);
        }),
      );
      this.#channels.set(name, channel);
    }
  }

  /** Whether media can be sent. */
  get isOpen(): boolean {
    return this.#isOpen && !this.#isClosed;
  }

  get state(): MediaTransportState {
    return this.#state;
  }

  /**
   * Our side as the offerer, made before the library listens. It must not listen yet: it begins to answer with the
   * remote ICE credentials but keeps the fingerprint to check only afterwards, and an eager peer whose handshake comes
   * in between is refused.
   */
  offer(): LocalParameters {
    this.#offered = newIceCredentials(this.#options.iceKey);
    return { ice: this.#offered, dtls: { role: 'actpass', fingerprint: this.#options.certificate.fingerprint } };
  }

  /** The peer's answer to `offer`; toward the library it is the offer. Throws when it cannot be used. */
  acceptAnswer(answer: Description): void {
    if (!this.#offered) throw new Error('Nothing was offered.');
    const { ufrag: iceUfrag, pwd: icePwd } = this.#offered;
    // The answerer is the controlled side of ICE; a lite agent always is, and this keeps us controlling.
    const sdp = toTransportSdp(answer, { hasData: this.#options.hasData, isLite: true });
    this.#connection.setRemoteDescription(sdp, 'offer');
    this.#connection.setLocalDescription('answer', { iceUfrag, icePwd });
  }

  /** Our side as the answerer. Throws when the offer cannot be used. */
  acceptOffer(offer: Description): LocalParameters {
    this.remoteUfrag = offer.ice?.ufrag;
    this.#connection.setRemoteDescription(toTransportSdp(offer, { hasData: this.#options.hasData }), 'offer');
    const { ufrag: iceUfrag, pwd: icePwd } = newIceCredentials(this.#options.iceKey);
    this.#connection.setLocalDescription('answer', { iceUfrag, icePwd });
    return this.#local();
  }

  #local(): LocalParameters {
    const { ice, dtls } = fromSdp(this.#connection.localDescription()?.sdp ?? '');
    if (!ice || !dtls) throw new Error('The transport has no local description.');
    return { ice, dtls };
  }

  /** RTP or RTCP. False when it did not go out: not connected yet, closed, or the socket's buffer is full. */
  send(packet: Buffer): boolean {
    if (!this.#isOpen || this.#isClosed) return false;
    try {
      this.sentBytes += packet.length;
      this.sentPackets += 1;
      return this.#track.sendMessageBinary(packet);
    } catch {
      // The peer closed between two packets; its state change is on the way.
      return false;
    }
  }

  isDataOpen(name: DataChannelName): boolean {
    if (this.#isClosed) return false;
    try {
      return this.#channels.get(name)?.isOpen() ?? false;
    } catch {
      return false;
    }
  }

  /** `slow`: sent, but much waits for the reader. `full`: too much, and the message is not queued unless it is urgent. */
  sendData(name: DataChannelName, message: Uint8Array, isUrgent = false): 'sent' | 'slow' | 'closed' | 'full' {
    const channel = this.#channels.get(name);
    if (!channel || !this.isDataOpen(name)) return 'closed';
    try {
      const queued = channel.bufferedAmount() + message.length;
      if (queued > QUEUED_BYTES_MAX && !isUrgent) return 'full';
      channel.sendMessageBinary(message);
      return queued > QUEUED_BYTES_SLOW ? 'slow' : 'sent';
    } catch {
      return 'closed';
    }
  }

  /** Bytes that wait for the reader, beyond what SCTP has taken already; none once the channel is not open any more. */
  queuedData(name: DataChannelName): number {
    try {
      return this.isDataOpen(name) ? (this.#channels.get(name)?.bufferedAmount() ?? 0) : 0;
    } catch {
      return 0;
    }
  }

  /** Idempotent; no callback comes after it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#state = 'CLOSED';
    // The library keeps callbacks of whatever is not closed by name, and with them everything they refer to.
    for (const part of [...this.#channels.values(), this.#track, this.#connection]) {
      try {
        part.close();
      } catch (error) {
        this.#options.onError(error);
      }
    }
    this.#channels.clear();
  }
}
