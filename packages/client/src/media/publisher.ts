import type { FrameData, ReplyTo, SignalingClientFrames } from '@parley/contract';
import { apply, type Description, delta, fromSdp, toSdp } from '@parley/media-description';
import { ConnectionError, PermissionError } from '../errors.ts';
import { createSerialQueue } from '../serial-queue.ts';
import type { Sent } from './backup.ts';
import { closePeer, whileOpen } from './closed-peer.ts';
import {
  type Encoding,
  type EncodingOptions,
  encodingsFor,
  isScalable,
  layersOf,
  preferCodec,
  tuneOpus,
} from './encodings.ts';
import type { LocalTrack } from './local-track.ts';

export interface PublisherDeps {
  newPeerConnection(): RTCPeerConnection;
  publish(offer: FrameData<SignalingClientFrames['publish']>): Promise<Published>;
  unpublish(trackIds: string[]): Promise<{ description: Description }>;
  /** Replaces the transport; the description is the answer to a whole offer. */
  restart(description: Description): Promise<{ description: Description | null }>;
  /** Resolves with the next connection; rejects when there will be none. */
  whenConnected(): Promise<void>;
  onState(state: RTCPeerConnectionState): void;
}

export interface Publisher {
  publish(tracks: readonly LocalTrack[]): Promise<void>;
  unpublish(track: LocalTrack): Promise<void>;
  replace(track: LocalTrack, media: MediaStreamTrack | null): Promise<void>;
  /** Layers without a subscriber are not encoded. `isBackup`: those of the backup codec, which begins with it. */
  setLayers(trackId: string, layers: readonly { rid: string; enabled: boolean }[], isBackup?: boolean): Promise<void>;
  /** A new transport for the same session; track ids stay. */
  restart(): Promise<void>;
  /** The session is another one: everything is published again. */
  reset(): Promise<void>;
  getStats(track: LocalTrack): Promise<RTCStatsReport | null>;
  /** The id of the track on a line. */
  trackAt(mid: string): string | null;
  readonly tracks: readonly LocalTrack[];
  readonly peer: RTCPeerConnection | null;
  close(): void;
}

type Published = ReplyTo<SignalingClientFrames['publish']>;
type TrackOffer = FrameData<SignalingClientFrames['publish']>['tracks'][number];

const ATTEMPTS_MAX = 3;
/** Lines of ended tracks; a new transport gets rid of them. */
const DEAD_LINES_MAX = 40;

/** The `pub` side: one peer connection that carries what this participant sends. The client offers. */
export function createPublisher(deps: PublisherDeps): Publisher {
  const { newPeerConnection, onState } = deps;
  let peer: RTCPeerConnection | null = null;
  let local: Description | undefined;
  let remote: Description | undefined;
  const lines = new Map<Sent, RTCRtpTransceiver>();
  const tracks = (): LocalTrack[] => [...lines.keys()].filter(isTrack);
  /** A track, then its backup. */
  const encodingsOf = (track: LocalTrack): Sent[] =>
    [...lines.keys()].filter((sent) => sent === track || sent.backupOf === track);
  const takeTurn = createSerialQueue();

  function open(): RTCPeerConnection {
    const opened = newPeerConnection();
    drop();
    lines.clear();
    opened.onconnectionstatechange = () => {
      if (peer === opened) onState(opened.connectionState);
    };
    peer = opened;
    return opened;
  }

  function drop(): void {
    closePeer(peer);
    peer = null;
    local = undefined;
    remote = undefined;
  }

  const trackAt = (mid: string): Sent | undefined => [...lines].find(([, line]) => line.mid === mid)?.[0];

  async function accept(pc: RTCPeerConnection, change: Description): Promise<void> {
    remote = apply(remote, change);
    const media = remote.media.map((entry) => tuneOpus(entry, trackAt(entry.mid)?.options));
    await whileOpen(pc, pc.setRemoteDescription({ type: 'answer', sdp: toSdp({ ...remote, media }) }));
  }

  async function publish(tracks: readonly Sent[]): Promise<void> {
    const pc = peer ?? open();
    for (const track of tracks) lines.set(track, openLine(pc, track));
    try {
      const next = await describe(pc, trackAt);
      const offers = tracks.map((track) => offerOf(track, lines.get(track)));
      const answer = await deps.publish({ tracks: offers, description: delta(local, next) });
      local = next;
      for (const track of tracks) {
        const known = answer.tracks.find(({ cid }) => cid === cidOf(track));
        if (isTrack(track)) track.id = known?.trackId ?? track.id;
        track.mutedByServer(known?.mutedByServer ?? false);
      }
      await accept(pc, answer.description);
    } catch (error) {
      await rollBack(pc, tracks);
      throw error;
    }
  }

  /** Restores the transport as it was before the attempt. */
  async function rollBack(pc: RTCPeerConnection, tracks: readonly Sent[]): Promise<void> {
    if (peer !== pc) return;
    if (pc.signalingState === 'have-local-offer') await whileOpen(pc, pc.setLocalDescription({ type: 'rollback' }));
    for (const track of tracks) {
      lines.get(track)?.stop();
      lines.delete(track);
    }
    // After a restart that failed there are others to carry.
    if (!remote && lines.size === 0) drop();
  }

  /** Somebody cannot decode the track. */
  async function addBackup(track: LocalTrack): Promise<void> {
    // Loaded when it is needed: most calls never do.
    const { backupOf } = await import('./backup.ts');
    if (encodingsOf(track).length === 1) await publishWithRetry([backupOf(track)]);
  }

  const publishWithRetry = (tracks: readonly Sent[]): Promise<void> =>
    retried(async () => {
      const wanted = tracks.filter(
        (track) => !lines.has(track) && !track.isStopped && (!track.backupOf || lines.has(track.backupOf)),
      );
      if (wanted.length > 0) await publish(wanted);
    }, deps);

  async function unpublish(track: LocalTrack): Promise<void> {
    const sent = encodingsOf(track);
    const ended = sent.flatMap((one) => lines.get(one) ?? []);
    for (const one of sent) lines.delete(one);
    const trackId = track.id;
    track.id = null;
    const pc = peer;
    if (ended.length === 0 || !pc || !trackId) return;
    await untilClosed(pc, stopSending(pc, trackId, ended));
    if (peer === pc && pc.getTransceivers().length - lines.size > DEAD_LINES_MAX) await rebuild();
  }

  /** With it its tracks have ended, or another one sends the media that they have by now. */
  const untilClosed = (pc: RTCPeerConnection, work: Promise<void>): Promise<void> =>
    whileOpen(pc, work).catch((error) => {
      if (peer === pc) throw error;
    });

  async function stopSending(pc: RTCPeerConnection, trackId: string, ended: RTCRtpTransceiver[]): Promise<void> {
    for (const one of ended) {
      one.direction = 'inactive';
      await one.sender.replaceTrack(null);
    }
    // In another session there is nothing left to end.
    const answer = await retried(async () => (peer === pc ? deps.unpublish([trackId]) : null), deps);
    if (!answer) return;
    await pc.setLocalDescription();
    // Asked twice, the server may have nothing more to say of it.
    const media = (remote?.media ?? [])
      .filter(({ mid }) => ended.some((one) => one.mid === mid))
      .map((entry) => ({ ...entry, direction: 'inactive' as const }));
    await accept(pc, apply({ media }, answer.description));
  }

  /** Nothing is carried any more. */
  function forget(): LocalTrack[] {
    const carried = tracks();
    drop();
    lines.clear();
    for (const track of carried) track.id = null;
    return carried;
  }

  /** There is nothing to carry, and so nothing to repair. */
  function end(): void {
    forget();
    onState('closed');
  }

  async function rebuild(): Promise<void> {
    // The node asks for backups anew.
    const kept = tracks();
    if (kept.length === 0) return end();
    const pc = open();
    for (const track of kept) lines.set(track, openLine(pc, track));
    const next = await describe(pc, trackAt);
    const answer = await deps.restart(next).catch((error) => {
      // The server has ended the tracks together with the permission to publish.
      if (error instanceof PermissionError) return end();
      throw error;
    });
    if (!answer) return;
    local = next;
    if (answer.description) await accept(pc, answer.description);
  }

  return {
    publish: (tracks) => takeTurn(() => publishWithRetry(tracks)),
    unpublish: (track) => takeTurn(() => unpublish(track)),
    async replace(track, media) {
      const pc = peer;
      for (const sent of encodingsOf(track)) {
        const line = lines.get(sent);
        if (pc && line) await untilClosed(pc, line.sender.replaceTrack(media));
      }
    },
    async setLayers(trackId, layers, isBackup) {
      const track = tracks().find(({ id }) => id === trackId);
      if (!track) return;
      const sent = encodingsOf(track)[isBackup ? 1 : 0];
      const sender = sent && lines.get(sent)?.sender;
      if (!sender) return takeTurn(() => addBackup(track));
      await setActive(sender, layers);
    },
    restart: () => takeTurn(rebuild),
    reset() {
      const kept = forget();
      return takeTurn(() => publishWithRetry(kept));
    },
    async getStats(track) {
      return (await lines.get(track)?.sender.getStats()) ?? null;
    },
    trackAt: (mid) => trackAt(mid)?.id ?? null,
    get tracks() {
      return tracks();
    },
    get peer() {
      return peer;
    },
    close: forget,
  };
}

const isTrack = (sent: Sent): sent is LocalTrack => !sent.backupOf;

const cidOf = ({ mediaStreamTrack, backupOf }: Sent): string => mediaStreamTrack.id + (backupOf ? '~' : '');

function openLine(pc: RTCPeerConnection, track: Sent): RTCRtpTransceiver {
  const line = addTransceiver(pc, track, track.options);
  const { degradationPreference } = track.options;
  // Where the browser does not know it, it goes on as it would.
  if (degradationPreference)
    line.sender.setParameters({ ...line.sender.getParameters(), degradationPreference }).catch(() => {});
  // A camera that was released has nothing to send until it is captured again.
  if (track.mediaStreamTrack.readyState === 'ended') void line.sender.replaceTrack(null);
  return line;
}

/** Turns the encodings of these layers on, all others off; one stream with all layers is on for any of them. */
async function setActive(sender: RTCRtpSender, layers: readonly { rid: string; enabled: boolean }[]): Promise<void> {
  const parameters = sender.getParameters();
  for (const encoding of parameters.encodings)
    encoding.active = layers.some(({ rid, enabled }) => enabled && rid === (encoding.rid ?? rid));
  await sender.setParameters(parameters);
}

function addTransceiver(pc: RTCPeerConnection, track: Sent, options: EncodingOptions): RTCRtpTransceiver {
  const media = track.mediaStreamTrack;
  const sendEncodings = encodingsFor(track.source, media, options);
  const line = pc.addTransceiver(media, {
    direction: 'sendonly',
    ...(sendEncodings.length > 0 && { sendEncodings }),
  });
  const mode = sendEncodings[0]?.scalabilityMode;
  if (mode && parametersOf(line)[0]?.scalabilityMode !== mode) {
    // The browser ignored it: of this codec it has no layers at all.
    line.stop();
    return addTransceiver(pc, track, { ...options, codec: 'vp8' });
  }
  preferCodec(line, track.kind, options);
  return line;
}

const parametersOf = (line: RTCRtpTransceiver): Encoding[] => line.sender.getParameters().encodings;

function offerOf(track: Sent, line: RTCRtpTransceiver | undefined): TrackOffer {
  const media = track.mediaStreamTrack;
  const { backupCodec = isScalable(track.options) } = track.options;
  const layers = track.kind === 'video' && line ? layersOf(parametersOf(line), media) : [];
  return {
    cid: cidOf(track),
    kind: track.kind === 'audio' ? 'AUDIO' : 'VIDEO',
    source: track.source,
    muted: track.isMutedByUser,
    ...(track.name && { name: track.name }),
    ...(track.metadata && { metadata: track.metadata }),
    ...(track.backupOf?.id && { backupOf: track.backupOf.id }),
    ...(backupCodec && !track.backupOf && { backupCodec: 'VP8' as const }),
    ...(layers.length > 0 && { layers }),
  };
}

/** The offer in compact form; each entry names its track, a new one by our own id for it. */
async function describe(pc: RTCPeerConnection, trackAt: (mid: string) => Sent | undefined): Promise<Description> {
  await whileOpen(pc, pc.setLocalDescription());
  const description = fromSdp(pc.localDescription?.sdp ?? '');
  for (const entry of description.media) {
    const track = trackAt(entry.mid);
    if (track) entry.trackId = (isTrack(track) && track.id) || cidOf(track);
    else delete entry.trackId;
  }
  return description;
}

/** A lost connection leaves the outcome unknown: it is retried on the next one. */
async function retried<T>(run: () => Promise<T>, { whenConnected }: PublisherDeps): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof ConnectionError) || attempt >= ATTEMPTS_MAX) throw error;
      await whenConnected();
    }
  }
}
