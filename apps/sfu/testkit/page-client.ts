/**
 * The smallest client that can hold a call: runs in the browser page of a test and speaks the control channel through
 * two functions that the test puts in place.
 */
import {
  answerDelta,
  apply,
  DATA_CHANNELS,
  type DataChannelName,
  type DataHead,
  DEFAULT_EXTENSIONS,
  type Description,
  decodeData,
  delta,
  type ExtensionName,
  encodeData,
  fromSdp,
  toSdp,
} from '@parley/media-description';

export type Command = (type: string, data: unknown) => Promise<unknown>;

export interface SubOffer {
  revision: number;
  restart: boolean;
  description: Description;
}

interface PublishAnswer {
  tracks: { cid: string; trackId: string }[];
  description: Description;
}

export class PageClient {
  readonly #command: Command;
  #pub = new RTCPeerConnection();
  #pubLocal: Description | undefined;
  #pubRemote: Description | undefined;
  #sub: RTCPeerConnection | undefined;
  #subRemote: Description | undefined;
  #subHasAnswered = false;
  readonly #channels = new Map<DataChannelName, RTCDataChannel>();
  readonly #senders = new Map<string, RTCRtpSender>();
  /** Remote elements by track id. */
  readonly elements = new Map<string, HTMLMediaElement>();
  readonly received: { head: DataHead; text: string; channel: DataChannelName }[] = [];

  readonly #lacks: readonly ExtensionName[];

  /** `lacks`: header extensions that this client does not speak. */
  constructor(command: Command, lacks: readonly ExtensionName[] = []) {
    this.#command = command;
    this.#lacks = lacks;
  }

  /** A description as a browser without those extensions would write or read it. */
  #without(description: Description): Description {
    if (this.#lacks.length === 0) return description;
    const media = description.media.map((entry) => {
      const extensions = { ...(entry.extensions ?? DEFAULT_EXTENSIONS[entry.kind]) };
      for (const name of this.#lacks) delete extensions[name];
      return { ...entry, extensions };
    });
    return { ...description, media };
  }

  async publish(kind: 'audio' | 'video', encodings: RTCRtpEncodingParameters[] = [], codec?: string): Promise<string> {
    const stream = await navigator.mediaDevices.getUserMedia(
      kind === 'audio' ? { audio: true } : { video: { width: 1280, height: 720, frameRate: 30 } },
    );
    const [track] = stream.getTracks();
    if (!track) throw new Error('no fake device');
    const transceiver = this.#pub.addTransceiver(track, { direction: 'sendonly', sendEncodings: encodings });
    const codecs = RTCRtpSender.getCapabilities(kind)?.codecs ?? [];
    if (codec) {
      const wanted = codecs.filter(({ mimeType }) => [codec, 'opus', 'rtx'].some((name) => mimeType.endsWith(name)));
      const rank = ({ mimeType }: RTCRtpCodec) => (mimeType.endsWith(codec) ? 0 : 1);
      transceiver.setCodecPreferences(wanted.sort((a, b) => rank(a) - rank(b)));
      // A layer is known by its size, which a browser short of CPU would change.
      const { sender } = transceiver;
      await sender.setParameters({ ...sender.getParameters(), degradationPreference: 'maintain-resolution' });
    }
    await this.#pub.setLocalDescription();
    const answer = await this.#exchange(track.id, kind, encodings);
    const trackId = answer.tracks[0]?.trackId ?? '';
    this.#senders.set(trackId, transceiver.sender);
    return trackId;
  }

  async #exchange(cid: string, kind: string, encodings: RTCRtpEncodingParameters[]): Promise<PublishAnswer> {
    const local = this.#without(fromSdp(this.#pub.localDescription?.sdp ?? ''));
    for (const entry of local.media) {
      const transceiver = this.#pub.getTransceivers().find(({ mid }) => mid === entry.mid);
      const known = [...this.#senders].find(([, sender]) => sender === transceiver?.sender)?.[0];
      entry.trackId = known ?? transceiver?.sender.track?.id ?? '';
    }
    const layers = encodings.map(({ rid = '', scaleResolutionDownBy = 1, maxBitrate }) => ({
      rid,
      width: 1280 / scaleResolutionDownBy,
      height: 720 / scaleResolutionDownBy,
      bitrate: maxBitrate,
    }));
    const source = kind === 'audio' ? 'MICROPHONE' : 'CAMERA';
    const answer = (await this.#command('pub.offer', {
      tracks: [{ cid, kind: kind.toUpperCase(), source, layers }],
      description: delta(this.#pubLocal, local),
    })) as PublishAnswer;
    this.#pubLocal = local;
    await this.#applyAnswer(answer.description);
    return answer;
  }

  async #applyAnswer(change: Description): Promise<void> {
    this.#pubRemote = apply(this.#pubRemote, change);
    await this.#pub.setRemoteDescription({ type: 'answer', sdp: toSdp(this.#pubRemote) });
  }

  async unpublish(trackId: string): Promise<void> {
    const transceiver = this.#pub.getTransceivers().find(({ sender }) => sender === this.#senders.get(trackId));
    if (transceiver) transceiver.direction = 'inactive';
    const { description } = (await this.#command('pub.unpublish', { trackIds: [trackId] })) as PublishAnswer;
    await this.#pub.setLocalDescription();
    await this.#applyAnswer(description);
  }

  /** A new connection with the same tracks. */
  async restartPub(): Promise<void> {
    const before = this.#pub;
    this.#pub = new RTCPeerConnection();
    for (const [trackId, sender] of this.#senders) {
      const { encodings } = sender.getParameters();
      if (!sender.track) continue;
      const sendEncodings = encodings.map(({ rid, scaleResolutionDownBy, maxBitrate }) => ({
        rid,
        scaleResolutionDownBy,
        maxBitrate,
      }));
      const isSimulcast = encodings.length > 1;
      const transceiver = this.#pub.addTransceiver(sender.track, {
        direction: 'sendonly',
        ...(isSimulcast && { sendEncodings }),
      });
      this.#senders.set(trackId, transceiver.sender);
    }
    await this.#pub.setLocalDescription();
    const local = this.#without(fromSdp(this.#pub.localDescription?.sdp ?? ''));
    for (const entry of local.media) {
      const transceiver = this.#pub.getTransceivers().find(({ mid }) => mid === entry.mid);
      entry.trackId = [...this.#senders].find(([, sender]) => sender === transceiver?.sender)?.[0] ?? '';
    }
    before.close();
    this.#pubLocal = local;
    this.#pubRemote = undefined;
    const { description } = (await this.#command('ice.restart', { pc: 'pub', description: local })) as PublishAnswer;
    await this.#applyAnswer(description);
  }

  async onOffer({ revision, restart, description }: SubOffer): Promise<void> {
    if (restart || !this.#sub) this.#openSub();
    const sub = this.#sub;
    if (!sub) return;
    this.#subRemote = apply(this.#subRemote, this.#without(description));
    await sub.setRemoteDescription({ type: 'offer', sdp: toSdp(this.#subRemote) });
    await sub.setLocalDescription();
    const answer = fromSdp(sub.localDescription?.sdp ?? '');
    const isFirst = !this.#subHasAnswered;
    this.#subHasAnswered = true;
    await this.#command('sub.answer', { revision, description: answerDelta(this.#subRemote, answer, isFirst) });
  }

  #openSub(): void {
    this.#sub?.close();
    this.#subRemote = undefined;
    this.#subHasAnswered = false;
    const sub = new RTCPeerConnection();
    this.#sub = sub;
    sub.ontrack = ({ track, transceiver }) => {
      const trackId = this.#subRemote?.media.find(({ mid }) => mid === transceiver.mid)?.trackId ?? track.id;
      this.elements.get(trackId)?.remove();
      const element = document.createElement(track.kind === 'audio' ? 'audio' : 'video');
      element.autoplay = true;
      element.muted = track.kind === 'video';
      element.srcObject = new MediaStream([track]);
      document.body.append(element);
      this.elements.set(trackId, element);
    };
    for (const name of ['reliable', 'lossy'] as const) {
      const channel = sub.createDataChannel(name, { negotiated: true, ...DATA_CHANNELS[name] });
      channel.binaryType = 'arraybuffer';
      channel.onmessage = ({ data }) => {
        const message = decodeData(new Uint8Array(data));
        if (message)
          this.received.push({ head: message.head, text: new TextDecoder().decode(message.payload), channel: name });
      };
      this.#channels.set(name, channel);
    }
  }

  isDataOpen = (name: DataChannelName): boolean => this.#channels.get(name)?.readyState === 'open';

  send(name: DataChannelName, head: DataHead, text: string): void {
    this.#channels.get(name)?.send(encodeData({ head, payload: new TextEncoder().encode(text) }));
  }

  /** Turns layers on and off as `publish.quality` says. */
  async onQuality(trackId: string, layers: { rid: string; enabled: boolean }[]): Promise<void> {
    const sender = this.#senders.get(trackId);
    if (!sender) return;
    const parameters = sender.getParameters();
    for (const encoding of parameters.encodings)
      encoding.active = layers.find(({ rid }) => rid === (encoding.rid ?? ''))?.enabled ?? true;
    await sender.setParameters(parameters);
  }

  async inbound(): Promise<Record<string, unknown>[]> {
    return this.#stats(this.#sub, 'inbound-rtp');
  }

  /** Width of the picture being shown; 0 while there is none. */
  widthOf(trackId: string): number {
    const element = this.elements.get(trackId);
    return element instanceof HTMLVideoElement ? element.videoWidth : 0;
  }

  async outbound(): Promise<Record<string, unknown>[]> {
    return this.#stats(this.#pub, 'outbound-rtp');
  }

  async pair(pc: 'pub' | 'sub'): Promise<Record<string, unknown> | undefined> {
    const pairs = await this.#stats(pc === 'pub' ? this.#pub : this.#sub, 'candidate-pair');
    return pairs.find((pair) => pair['nominated'] === true);
  }

  async #stats(connection: RTCPeerConnection | undefined, type: string): Promise<Record<string, unknown>[]> {
    const report = await connection?.getStats();
    return [...(report?.values() ?? [])].filter((entry) => entry.type === type);
  }

  close(): void {
    this.#pub.close();
    this.#sub?.close();
  }
}
