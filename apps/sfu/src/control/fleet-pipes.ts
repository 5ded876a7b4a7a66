import { createHash, hkdfSync } from 'node:crypto';
import type { MediaNodePipes, MediaRequests, MediaResponses } from '@parley/contract/media-control';
import { MediaError } from '../media/errors.ts';
import type { PipeSettings } from '../pipes/pipe-settings.ts';
import type { Directory } from './directory.ts';
import type { Worker } from './workers.ts';

const SECRET_BYTES = 32;
/** With the heads of IPv6 and UDP within 1500 bytes, and some for a tunnel. */
const DATAGRAM_BYTES = 1400;
/** Nodes that rooms may be linked to; those without a room that no pipe hears are forgotten first. */
const NODES_MAX = 64;
/** A node that stays silent is reported again after this long. */
const REPEAT_MS = 5000;

type PipedWorker = Pick<Worker, 'isReady' | 'ticket' | 'fleetPort' | 'order'>;

interface FleetPipesDeps {
  workers: readonly PipedWorker[];
  directory: Directory;
  /** The fleet's: the first is sent with, all are read. */
  secrets: readonly string[];
  /** What other nodes are told to send to; null: this node has no pipes to others. */
  host: string | null;
}

interface Met {
  pipes: MediaNodePipes;
  /** Pipes to it that are not heard, as `process>peer`; and when its silence was last reported. */
  silent: Set<string>;
  reportedAt: number | null;
}

/** The pipes between the media processes of this node and those of others, and which rooms go over them. */
export class FleetPipes {
  readonly #deps: FleetPipesDeps;
  readonly #nodes = new Map<string, Met>();
  /** Process → tickets of the processes elsewhere that it has a pipe to. */
  readonly #opened = new Map<number, Set<string>>();
  /** Process → tickets whose pipes it has closed: the keys of a pipe are never used for a second one. */
  readonly #spent = new Map<number, Set<string>>();

  constructor(deps: FleetPipesDeps) {
    this.#deps = deps;
  }

  /** What servers hand to other nodes; undefined while a process restarts, and when there are no pipes. */
  describe(): MediaNodePipes | undefined {
    const { workers, host } = this.#deps;
    if (host === null) return undefined;
    const ends = workers.flatMap(({ isReady, fleetPort, ticket }) =>
      isReady && fleetPort !== null ? [{ port: fleetPort, ticket }] : [],
    );
    const id = createHash('sha256')
      .update(JSON.stringify([host, ends]))
      .digest('hex')
      .slice(0, 32);
    return ends.length === workers.length ? { id, host, ends } : undefined;
  }

  /** Another node as it is now. Where its processes are others, the rooms that it shares are linked anew. */
  meet(node: string, pipes: MediaNodePipes): void {
    if (this.#deps.host === null) throw new MediaError('FORBIDDEN', 'This node has no pipes to others.');
    const before = this.#nodes.get(node);
    if (before?.pipes.id === pipes.id) return;
    if (pipes.ends.some(({ ticket }) => [...this.#spent.values()].some((spent) => spent.has(ticket))))
      throw new MediaError('STALE', 'The pipes to that node were closed: it has new ones once its processes restart.');
    if (!before) this.#makeRoom();
    this.#nodes.set(node, { pipes, silent: silentBefore(node, before, pipes), reportedAt: before?.reportedAt ?? null });
    for (const room of this.#deps.directory.roomsLinkedTo(node)) this.sync(room);
  }

  /** Forgets nodes without a room that no pipe hears. A pipe that is heard could not be opened again: it stays. */
  #makeRoom(): void {
    if (this.#nodes.size < NODES_MAX) return;
    for (const [node, met] of [...this.#nodes])
      if (met.silent.size >= this.#openedTo(met).length && this.#deps.directory.roomsLinkedTo(node).length === 0)
        this.#forget(node);
    if (this.#nodes.size >= NODES_MAX) throw new MediaError('FULL', 'This node is linked to as many others as it may.');
  }

  #forget(node: string): void {
    const ends = this.#nodes.get(node)?.pipes.ends ?? [];
    this.#nodes.delete(node);
    for (const [index, opened] of this.#opened)
      for (const [number, { ticket }] of ends.entries()) {
        if (!opened.delete(ticket)) continue;
        this.#spent.set(index, (this.#spent.get(index) ?? new Set()).add(ticket));
        this.#deps.workers[index]?.order({ order: 'close', peer: peerOf(node, number) });
      }
  }

  /** Whether servers have to hear of it when a process has started anew. */
  get hasOthers(): boolean {
    return this.#nodes.size > 0;
  }

  /** On which other nodes the room is. */
  link({ room, own, nodes }: MediaRequests['room.link']): MediaResponses['room.link'] {
    const links = this.#deps.directory.linksOf(room);
    if (!links) throw new MediaError('NOT_FOUND', 'No such room on this node.');
    links.nodes = new Set(nodes.map(({ node }) => node));
    this.sync(room);
    const unknown = nodes.flatMap(({ node, pipes }) => (this.#nodes.get(node)?.pipes.id === pipes ? [] : [node]));
    const pipes = this.describe();
    return { unknown, ...(pipes && pipes.id !== own && { pipes }) };
  }

  /** Brings what the processes of the room know up to what is so: call it whenever any of that has changed. */
  sync(room: string): void {
    const { directory } = this.#deps;
    const links = directory.linksOf(room);
    if (!links) return;
    const wanted = new Map<string, string>();
    for (const node of links.nodes) {
      this.#open(node);
      for (const [number, { ticket }] of (this.#nodes.get(node)?.pipes.ends ?? []).entries())
        wanted.set(ticket, peerOf(node, number));
    }
    for (const leg of directory.legsOf(room)) this.#syncLeg(room, leg, wanted, links.done);
  }

  #syncLeg(room: string, leg: number, wanted: Map<string, string>, done: Map<number, Map<string, string>>): void {
    const worker = this.#deps.workers[leg];
    const linked = done.get(leg) ?? new Map<string, string>();
    done.set(leg, linked);
    const peers = new Set(wanted.values());
    for (const [ticket, peer] of [...linked]) {
      if (wanted.has(ticket)) continue;
      linked.delete(ticket);
      // Another process has taken its place: the pipe was closed for it.
      if (!peers.has(peer)) worker?.order({ order: 'unlink', peer, room });
    }
    for (const [ticket, peer] of wanted) {
      if (linked.has(ticket)) continue;
      linked.set(ticket, peer);
      worker?.order({ order: 'link', peer, room });
    }
  }

  /** From every process to all of that node: which of them have the room is for them to say. */
  #open(node: string): void {
    const pipes = this.#nodes.get(node)?.pipes;
    if (!pipes) return;
    for (const [index, worker] of this.#deps.workers.entries()) {
      if (!worker.isReady) continue;
      const opened = this.#opened.get(index) ?? new Set<string>();
      this.#opened.set(index, opened);
      for (const [number, end] of pipes.ends.entries()) {
        if (opened.has(end.ticket)) continue;
        opened.add(end.ticket);
        const settings = this.#settingsOf(worker, pipes.host, end);
        worker.order({ order: 'open', peer: peerOf(node, number), settings });
      }
    }
  }

  #settingsOf({ ticket }: PipedWorker, host: string, { ticket: theirs, port }: MediaNodePipes['ends'][number]) {
    const [secret = '', ...otherSecrets] = this.#deps.secrets.map((one) => secretOf(one, ticket, theirs));
    const settings: PipeSettings = {
      id: numberOf(ticket, theirs),
      peerId: numberOf(theirs, ticket),
      ...{ host, port, secret, end: ticket < theirs ? 'a' : 'b', datagramBytes: DATAGRAM_BYTES },
      betweenNodes: { otherSecrets },
    };
    return settings;
  }

  /** The process has started: it has no pipe yet. */
  restore(index: number): void {
    this.#opened.delete(index);
    for (const node of this.#nodes.keys()) if (this.#deps.directory.roomsLinkedTo(node).length > 0) this.#open(node);
  }

  /** The process has ended, and its pipes with it. */
  lose(index: number): void {
    this.#opened.delete(index);
    this.#spent.delete(index);
    for (const met of this.#nodes.values())
      for (const key of [...met.silent]) if (key.startsWith(`${index}>`)) met.silent.delete(key);
  }

  onSilence(index: number, peer: string, isSilent: boolean): void {
    const met = this.#nodes.get(peer.slice(0, peer.lastIndexOf('/')));
    if (isSilent) met?.silent.add(`${index}>${peer}`);
    else met?.silent.delete(`${index}>${peer}`);
  }

  /** Every second: tells servers of the nodes that no pipe hears. */
  tick(now: number): void {
    for (const [node, met] of this.#nodes) {
      if (!this.#isSilent(met)) met.reportedAt = null;
      else if (met.reportedAt === null || now - met.reportedAt >= REPEAT_MS) {
        met.reportedAt = now;
        for (const room of this.#deps.directory.roomsLinkedTo(node))
          this.#deps.directory.emitToRoom({ type: 'node.silent', data: { room, node } });
      }
    }
  }

  #isSilent(met: Met): boolean {
    const opened = this.#openedTo(met);
    return opened.length > 0 && met.silent.size >= opened.length;
  }

  /** Its ends that we have pipes to, once for each process of ours. */
  #openedTo({ pipes }: Met): MediaNodePipes['ends'] {
    return [...this.#opened.values()].flatMap((own) => pipes.ends.filter(({ ticket }) => own.has(ticket)));
  }
}

/** Pipes that stay as they were stay silent too: they are not reported a second time. */
function silentBefore(node: string, before: Met | undefined, { ends }: MediaNodePipes): Set<string> {
  const kept = ends.flatMap(({ ticket }, number) =>
    before?.pipes.ends[number]?.ticket === ticket ? [peerOf(node, number)] : [],
  );
  return new Set([...(before?.silent ?? [])].filter((key) => kept.includes(key.slice(key.indexOf('>') + 1))));
}

/** The name of a pipe: node names have no slash. */
const peerOf = (node: string, number: number): string => `${node}/${number}`;

/** Of a pipe between two processes: both ends derive the same one, from what is new at each start of either. */
function secretOf(fleetSecret: string, one: string, other: string): string {
  const info = `parley pipe between nodes, ${[one, other].sort().join(' and ')}`;
  return Buffer.from(hkdfSync('sha256', fleetSecret, Buffer.alloc(0), info, SECRET_BYTES)).toString('hex');
}

/** Under which the receiver finds the pipe; not secret. */
const numberOf = (receiver: string, sender: string): number =>
  createHash('sha256').update(`${receiver} from ${sender}`).digest().readUInt32BE(0);
