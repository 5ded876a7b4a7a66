import type { MediaClock } from '../media/clock.ts';
import type { Publication } from '../media/publication.ts';
import type { SenderReport } from '../media/rtcp.ts';
import type { LegMessage } from './leg-messages.ts';
import { Pipe, type PipedLayer, type PipeListener, type PipeSettings, type PipeStats } from './pipe.ts';
import type { PipeSocket } from './pipe-socket.ts';
import { RemoteTrack, type TrackDescription } from './remote-track.ts';
import { Tap } from './tap.ts';

interface PeerDeps {
  name: string;
  settings: PipeSettings;
  socket: PipeSocket;
  clock: MediaClock;
  /** The track of our own with this number, if this peer may have it. */
  published(track: number, peer: Peer): Publication | undefined;
  message(message: LegMessage, peer: Peer): void;
}

/** Another media process: the pipe to it, what it gets of our tracks and what we get of its. */
export class Peer implements PipeListener {
  readonly name: string;
  readonly #deps: PeerDeps;
  readonly #pipe: Pipe;
  readonly #taps = new Map<number, Tap>();
  readonly #remotes = new Map<number, RemoteTrack>();

  constructor(deps: PeerDeps) {
    this.name = deps.name;
    this.#deps = deps;
    this.#pipe = new Pipe(deps.settings, deps.socket, deps.clock, this);
  }

  get stats(): PipeStats {
    return this.#pipe.stats;
  }

  /** How many of our tracks go there. */
  get tapCount(): number {
    return this.#taps.size;
  }

  send(message: LegMessage): boolean {
    return this.#pipe.sendMessage(Buffer.from(JSON.stringify(message)));
  }

  addRemote(description: TrackDescription): RemoteTrack {
    const remote = new RemoteTrack(description, this.#pipe);
    this.#remotes.set(remote.number, remote);
    return remote;
  }

  removeRemote(remote: RemoteTrack): void {
    remote.close();
    this.#remotes.delete(remote.number);
  }

  rtp(of: PipedLayer, packet: Buffer, now: number): void {
    this.#remotes.get(of.track)?.receive(of, packet, now);
  }

  senderReport(of: PipedLayer, report: SenderReport, now: number): void {
    this.#remotes.get(of.track)?.onSenderReport(of, report, now);
  }

  demand(track: number, layers: number, now: number): void {
    const publication = this.#deps.published(track, this);
    if (!publication || layers === 0) this.dropTap(track);
    else this.#tapOf(track, publication).demand(layers, now);
  }

  #tapOf(track: number, publication: Publication): Tap {
    const known = this.#taps.get(track);
    if (known) return known;
    const tap = new Tap(publication, track, this.#pipe);
    this.#taps.set(track, tap);
    return tap;
  }

  dropTap(track: number): void {
    this.#taps.get(track)?.close();
    this.#taps.delete(track);
  }

  keyFrame(track: number, layer: number, now: number): void {
    const publication = this.#taps.get(track)?.publication;
    publication?.requestKeyFrame(layer);
    publication?.flushKeyFrameRequests(now);
  }

  nack(of: PipedLayer, sequences: readonly number[]): void {
    this.#taps.get(of.track)?.resend(of, sequences);
  }

  message(bytes: Buffer): void {
    // A process of our own fleet wrote it: the datagrams are authenticated.
    this.#deps.message(JSON.parse(String(bytes)) as LegMessage, this);
  }

  /** Every 20 ms. */
  tick(now: number): void {
    this.#pipe.tick(now);
    for (const [track, tap] of this.#taps) if (tap.isExpired(now)) this.dropTap(track);
  }

  close(): void {
    for (const track of [...this.#taps.keys()]) this.dropTap(track);
    this.#remotes.clear();
    this.#pipe.close();
  }
}
