import type { MediaClock } from '../media/clock.ts';
import { counters } from '../media/counters.ts';
import type { Publication } from '../media/publication.ts';
import type { SenderReport } from '../media/rtcp.ts';
import type { LegMessage } from './leg-messages.ts';
import { Pipe, type PipedLayer, type PipeListener, type PipeSettings, type PipeStats } from './pipe.ts';
import type { PipeSocket } from './pipe-socket.ts';
import { RemoteTrack, type TrackDescription } from './remote-track.ts';
import { Tap } from './tap.ts';

interface PipePeerDeps {
  name: string;
  settings: PipeSettings;
  socket: PipeSocket;
  clock: MediaClock;
  /** The track of our own with this number, if this peer may have it. */
  published(track: number, peer: PipePeer): Publication | undefined;
  message(message: LegMessage, peer: PipePeer): void;
}

/** Another media process: the pipe to it, what it gets of our tracks and what we get of its. */
export class PipePeer implements PipeListener {
  readonly name: string;
  readonly #deps: PipePeerDeps;
  readonly #pipe: Pipe;
  readonly #taps = new Map<number, Tap>();
  /** Of our tracks that went there, also when they do not now: the other process refuses a run that was before. */
  readonly #runs = new Map<number, number[]>();
  readonly #remotes = new Map<number, RemoteTrack>();
  /** Rooms that are gone here, while the other process could not be told. */
  readonly #unlinks = new Set<string>();

  constructor(deps: PipePeerDeps) {
    this.name = deps.name;
    this.#deps = deps;
    this.#pipe = new Pipe(deps.settings, deps.socket, deps.clock, this);
  }

  /** Whose keys it has: one that restarted has others. */
  get secret(): string {
    return this.#deps.settings.secret;
  }

  /** Whether it is on another node, and has not been heard for this long. */
  isSilent(now: number, silentMs: number): boolean {
    return this.#deps.settings.betweenNodes !== undefined && now - this.#pipe.heardAt > silentMs;
  }

  get stats(): PipeStats {
    return this.#pipe.stats;
  }

  get layersCut(): number {
    return this.#pipe.layersCut;
  }

  /** How many of our tracks go there. */
  get tapCount(): number {
    return this.#taps.size;
  }

  /** False when too much waits already. */
  send(message: LegMessage): boolean {
    const isSent = this.#pipe.sendMessage(Buffer.from(JSON.stringify(message)), message.is === 'data');
    // The room is closed here: nobody else will say it again.
    if (message.is === 'unlink' && !isSent) this.#unlinks.add(message.room);
    // Opened again, it is linked.
    if (message.is === 'state') this.#unlinks.delete(message.room);
    return isSent;
  }

  /** Whether what is large had better wait. */
  get isCongested(): boolean {
    return this.#pipe.isCongested;
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
    const runs = this.#runs.get(track) ?? [];
    this.#runs.set(track, runs);
    const tap = new Tap(publication, track, this.#pipe, runs);
    this.#taps.set(track, tap);
    return tap;
  }

  dropTap(track: number): void {
    this.#taps.get(track)?.close();
    this.#taps.delete(track);
  }

  /** The track has ended; no other gets its number. */
  forgetTrack(track: number): void {
    this.dropTap(track);
    this.#runs.delete(track);
  }

  keyFrame(track: number, layer: number, now: number): void {
    const publication = this.#taps.get(track)?.publication;
    publication?.requestKeyFrame(layer);
    publication?.flushKeyFrameRequests(now);
  }

  nack(of: PipedLayer, sequences: readonly number[], now: number): void {
    counters.pipeNacksIn += sequences.length;
    this.#taps.get(of.track)?.resend(of, sequences, now);
  }

  message(bytes: Buffer): void {
    // A process of our own fleet wrote it: the datagrams are authenticated.
    this.#deps.message(JSON.parse(String(bytes)) as LegMessage, this);
  }

  /** Every 20 ms. */
  tick(now: number): void {
    this.#pipe.tick(now);
    if (!this.isCongested) this.#sendUnlinks();
    for (const [track, tap] of this.#taps) if (tap.isExpired(now)) this.dropTap(track);
  }

  #sendUnlinks(): void {
    for (const room of this.#unlinks) if (this.send({ room, is: 'unlink' })) this.#unlinks.delete(room);
  }

  close(): void {
    for (const track of [...this.#taps.keys()]) this.dropTap(track);
    this.#remotes.clear();
    this.#pipe.close();
  }
}
