import { randomBytes } from 'node:crypto';
import type { PipeSettings } from '../pipes/pipe.ts';
import type { Directory } from './directory.ts';
import type { Worker } from './workers.ts';

const HOST = '127.0.0.1';
const SECRET_BYTES = 32;
/** Loopback carries far more; this holds a burst of a keyframe, and little is lost with one. */
const DATAGRAM_BYTES = 8192;
const PIPE_PERCENT = 10;
/** Of a core, for who has joined and shows in no load yet: about a handshake, at most what a busy call costs. */
const JOIN_PERCENT_MIN = 1;
const JOIN_PERCENT_MAX = 5;

type SpreadWorker = Pick<Worker, 'isReady' | 'busyPercent' | 'load' | 'reports' | 'pid' | 'pipePort' | 'order'>;

/** Who has joined since the load that was reported last, and since the one before. */
interface Joins {
  reports: number;
  since: number;
  before: number;
}

interface SpreadDeps {
  workers: readonly SpreadWorker[];
  directory: Directory;
  /**
   * A process this busy takes nobody new of a room while another has time; null: a room stays in one process. With 0
   * those who join take turns.
   */
  busyPercent: number | null;
}

/** Spreads rooms over the media processes of this node: who joins where, and the pipes between them. */
export class Spread {
  readonly #deps: SpreadDeps;
  /** `lower-higher` → the processes at both ends, which others may have followed since. */
  readonly #pipes = new Map<string, string>();
  /** By process. The load of a second shows little of who joined in it, so they count until the one after. */
  readonly #joins = new Map<number, Joins>();
  #nextPipe = 1;

  constructor(deps: SpreadDeps) {
    this.#deps = deps;
  }

  /** The process for a participant that joins the room, who counts there from now on. */
  place(room: string, identity: string): number | undefined {
    const index = this.#choose(room, identity);
    if (index !== undefined) this.#joinsOf(index).since += 1;
    return index;
  }

  #joinsOf(index: number): Joins {
    const { reports = 0 } = this.#deps.workers[index] ?? {};
    const known = this.#joins.get(index);
    if (known?.reports === reports) return known;
    const joins = { reports, since: 0, before: known?.reports === reports - 1 ? known.since : 0 };
    this.#joins.set(index, joins);
    return joins;
  }

  /** As it was measured, and what those who joined since then are likely to add. */
  #busyOf(index: number): number {
    const { busyPercent = 0, load } = this.#deps.workers[index] ?? {};
    const { since, before } = this.#joinsOf(index);
    const average = load && load.participants > 0 ? busyPercent / load.participants : 0;
    return busyPercent + (since + before) * Math.min(JOIN_PERCENT_MAX, Math.max(JOIN_PERCENT_MIN, average));
  }

  #choose(room: string, identity: string): number | undefined {
    const { directory, workers, busyPercent } = this.#deps;
    const legs = directory.legsOf(room);
    // Of two sessions of an identity one process decides which is the newer.
    const same = directory.workerOfIdentity(room, identity);
    if (same !== undefined || busyPercent === null || workers.length === 1) return same ?? legs[0];
    const hasTime = (index: number): boolean => workers[index]?.isReady === true && this.#busyOf(index) < busyPercent;
    const leg = legs.find(hasTime);
    if (leg !== undefined) return leg;
    const ready = [...workers.keys()].filter((index) => workers[index]?.isReady);
    const others = ready.filter(hasTime);
    if (others.length > 0 || busyPercent === 0)
      return this.#fewestPeople(others.length > 0 ? others : ready) ?? legs[0];
    return this.#leastBusy(ready, legs) ?? legs[0];
  }

  #fewestPeople(indices: readonly number[]): number | undefined {
    const people = new Map(indices.map((index) => [index, this.#deps.directory.participantsOf(index)]));
    return [...indices].sort((a, b) => (people.get(a) ?? 0) - (people.get(b) ?? 0))[0];
  }

  /** All are busy: another process only where it is clearly less so, since pipes cost something too. */
  #leastBusy(indices: readonly number[], legs: readonly number[]): number | undefined {
    const busy = (index: number): number => this.#busyOf(index) + (legs.includes(index) ? 0 : PIPE_PERCENT);
    return [...indices].sort((a, b) => busy(a) - busy(b))[0];
  }

  /** Whether who joins would make a process busier than it may get by that. */
  get isBusy(): boolean {
    const { workers, busyPercent } = this.#deps;
    const ready = [...workers.keys()].filter((index) => workers[index]?.isReady);
    return busyPercent !== null && ready.every((index) => this.#busyOf(index) >= busyPercent);
  }

  /** The room is in this process too: those that it is in hear of each other. */
  link(room: string, index: number): void {
    for (const other of this.#deps.directory.legsOf(room)) {
      if (other === index) continue;
      this.#connect(index, other);
      this.#deps.workers[index]?.order({ order: 'link', peer: String(other), room });
      this.#deps.workers[other]?.order({ order: 'link', peer: String(index), room });
    }
  }

  #connect(one: number, two: number): void {
    const [low, high] = [Math.min(one, two), Math.max(one, two)];
    const [a, b] = [this.#deps.workers[low], this.#deps.workers[high]];
    if (!a || !b) return;
    const ends = `${a.pid}-${b.pid}`;
    if (this.#pipes.get(`${low}-${high}`) === ends) return;
    this.#pipes.set(`${low}-${high}`, ends);
    const secret = randomBytes(SECRET_BYTES).toString('hex');
    const [aId, bId] = [this.#nextPipe++, this.#nextPipe++];
    const shared = { host: HOST, secret, datagramBytes: DATAGRAM_BYTES };
    const toB: PipeSettings = { ...shared, id: aId, peerId: bId, port: b.pipePort, end: 'a' };
    const toA: PipeSettings = { ...shared, id: bId, peerId: aId, port: a.pipePort, end: 'b' };
    a.order({ order: 'open', peer: String(high), settings: toB });
    b.order({ order: 'open', peer: String(low), settings: toA });
  }

  /** The process exited, and its ends of all pipes with it. */
  lose(index: number): void {
    for (const [other, worker] of this.#deps.workers.entries())
      if (other !== index) worker.order({ order: 'close', peer: String(index) });
    this.#joins.delete(index);
    for (const key of [...this.#pipes.keys()]) if (key.split('-').includes(String(index))) this.#pipes.delete(key);
  }
}
