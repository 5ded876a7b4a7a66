import { randomUUID } from 'node:crypto';
import type { MediaClock } from '../media/clock.ts';
import type { Publication } from '../media/publication.ts';
import type { LegMessage } from './leg-messages.ts';
import type { PipeSettings } from './pipe.ts';
import { PipePeer } from './pipe-peer.ts';
import type { PipeSocket } from './pipe-socket.ts';
import { type LeggedRoom, RoomLegs } from './room-legs.ts';
import { SharedChoice } from './shared-choice.ts';

/** Told to a media process by its supervisor. */
export type PipeOrder =
  /** There is a pipe to that process from now on; one of the same name before it is closed. */
  | { order: 'open'; peer: string; settings: PipeSettings }
  | { order: 'close'; peer: string }
  /** The room is in that process too. */
  | { order: 'link'; peer: string; room: string }
  /** It is not any more. */
  | { order: 'unlink'; peer: string; room: string };

/** Another node counts as gone after this long: pings come every 0.4 s. */
const SILENT_MS = 1600;
/** Secrets of pipes that were closed are kept for good, since none may be used twice; each costs a restart of a process. */
const SPENT_MAX = 100_000;

export interface PipesLoad {
  /** To processes that share a room with this one. */
  pipes: number;
  /** Tracks that go to other processes, once for each of them. */
  pipedTracks: number;
  pipeDatagramsLost: number;
  /** Layers that lossy paths from other nodes do not carry (PIPE-44), of all pipes together. */
  pipeLayersCut: number;
}

/** The other media processes as this one knows them, and which of its rooms they have too. */
export class Legs {
  readonly #socket: PipeSocket;
  readonly #fleetSocket: PipeSocket | null;
  readonly #clock: MediaClock;
  readonly #name = randomUUID();
  readonly #peers = new Map<string, PipePeer>();
  readonly #rooms = new Map<string, RoomLegs>();
  readonly #published = new Map<number, { publication: Publication; legs: RoomLegs }>();
  readonly #spent = new Set<string>();
  readonly #silent = new Set<string>();
  /** Told when another node falls silent on a pipe, and when it is heard again. */
  onSilence: (peer: string, isSilent: boolean) => void = () => {};
  #nextTrack = 1;
  /** On pipes that are closed. */
  #lostBefore = 0;

  /** `fleetSocket`: of pipes to other nodes; null where there are none. */
  constructor(socket: PipeSocket, clock: MediaClock, fleetSocket: PipeSocket | null = null) {
    this.#socket = socket;
    this.#fleetSocket = fleetSocket;
    this.#clock = clock;
  }

  forRoom(room: LeggedRoom): RoomLegs {
    const numbers = {
      take: (publication: Publication, of: RoomLegs) => this.#number(publication, of),
      release: (number: number) => this.#release(number),
    };
    const choice = new SharedChoice(this.#clock.wall(), this.#name);
    const legs = new RoomLegs(room, numbers, choice, () => void this.#rooms.delete(room.id));
    this.#rooms.set(room.id, legs);
    return legs;
  }

  #number(publication: Publication, legs: RoomLegs): number {
    const number = this.#nextTrack;
    this.#nextTrack += 1;
    this.#published.set(number, { publication, legs });
    return number;
  }

  #release(number: number): void {
    this.#published.delete(number);
    for (const peer of this.#peers.values()) peer.forgetTrack(number);
  }

  execute(order: PipeOrder): void {
    const peer = this.#peers.get(order.peer);
    if (order.order === 'open') this.#open(order.peer, order.settings);
    else if (peer && order.order === 'close') this.#close(peer);
    else if (peer && order.order === 'link') this.#rooms.get(order.room)?.link(peer);
    else if (peer && order.order === 'unlink') this.#rooms.get(order.room)?.forbid(peer);
  }

  #open(name: string, settings: PipeSettings): void {
    const before = this.#peers.get(name);
    if (before?.secret === settings.secret) return;
    if (before) this.#close(before);
    const socket = settings.betweenNodes ? this.#fleetSocket : this.#socket;
    // Its numbers would begin again, under the same keys.
    if (!socket || this.#spent.has(settings.secret) || this.#spent.size >= SPENT_MAX) return;
    this.#spent.add(settings.secret);
    const peer = new PipePeer({
      name,
      settings,
      socket,
      clock: this.#clock,
      published: (track, of) => {
        const found = this.#published.get(track);
        return found?.legs.isLinked(of) ? found.publication : undefined;
      },
      message: (message, from) => this.#onMessage(message, from),
    });
    this.#peers.set(name, peer);
  }

  #onMessage(message: LegMessage, from: PipePeer): void {
    this.#rooms.get(message.room)?.onMessage(message, from);
  }

  #close(peer: PipePeer): void {
    this.#peers.delete(peer.name);
    this.#silent.delete(peer.name);
    for (const room of this.#rooms.values()) room.forbid(peer);
    peer.close();
    this.#lostBefore += peer.stats.lostDatagrams;
  }

  /** Every 20 ms. */
  tick(now: number): void {
    for (const peer of this.#peers.values()) {
      peer.tick(now);
      const isSilent = peer.isSilent(now, SILENT_MS);
      if (isSilent === this.#silent.has(peer.name)) continue;
      if (isSilent) this.#silent.add(peer.name);
      else this.#silent.delete(peer.name);
      this.onSilence(peer.name, isSilent);
    }
  }

  load(): PipesLoad {
    const sharing = new Set<PipePeer>();
    for (const room of this.#rooms.values()) for (const peer of room.peers) sharing.add(peer);
    const lost = this.#lostBefore;
    const load: PipesLoad = { pipes: sharing.size, pipedTracks: 0, pipeDatagramsLost: lost, pipeLayersCut: 0 };
    for (const peer of this.#peers.values()) {
      load.pipedTracks += peer.tapCount;
      load.pipeDatagramsLost += peer.stats.lostDatagrams;
      load.pipeLayersCut += peer.layersCut;
    }
    return load;
  }

  close(): void {
    for (const peer of [...this.#peers.values()]) this.#close(peer);
    this.#socket.close();
    this.#fleetSocket?.close();
  }
}
