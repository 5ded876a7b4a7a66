import { limitRows } from '@parley/contract/limits';
import type {
  MediaCommand,
  MediaCommandName,
  MediaRequests,
  MediaResponses,
  MediaRoomSnapshot,
} from '@parley/contract/media-control';
import { type Description, parseDescription } from '@parley/media-description';
import * as native from 'node-datachannel';
import type { Legs, PipesLoad } from '../pipes/legs.ts';
import type { Certificate } from './certificate.ts';
import type { MediaClock } from './clock.ts';
import { type Counters, counters } from './counters.ts';
import type { SnapshotOptions } from './crowd.ts';
import { LAYER_NAMES } from './downlink.ts';
import { MediaError } from './errors.ts';
import { LoopDelay } from './loop-delay.ts';
import { PeerTransport } from './peer-transport.ts';
import { type Emit, Room } from './room.ts';

interface EngineDeps {
  clock: MediaClock;
  random(): number;
  newTrackId(): string;
  udpPort: number;
  bindAddress: string | undefined;
  certificate: Certificate;
  iceKey: Buffer;
  /** Where clients reach this process, as candidates of a description. */
  candidates(): string[];
  /** The pipes to other media processes. */
  legs: Legs;
  emit: Emit;
  onError(error: unknown): void;
}

export interface EngineLoad extends PipesLoad {
  rooms: number;
  participants: number;
  inBytes: number;
  outBytes: number;
  outPackets: number;
  /** Data messages that a receiver did not get, since the start. */
  dataDropped: number;
  /** Bits per second that the paths to subscribers carry, all together. */
  estimateBps: number;
  /** Subscribed videos by `LAYER_NAMES`. */
  layers: number[];
  counters: Counters;
  /** Of the event loop since it was last asked for, 99th percentile. */
  loopDelaySeconds: number;
}

/** A command without a handler does not compile. */
type Handlers = { [Name in MediaCommandName]: (data: MediaRequests[Name]) => MediaResponses[Name] };

const EMPTY_TIMEOUT_SECONDS = 60;
const TICK_MS = 20;
/** Of a process without rooms: its pipes say that it is there. */
const IDLE_TICK_MS = 200;
/** For a control plane that says nothing of it. */
const FALLBACK = {
  sentPerSecond: limitRows.SIGNALING_MAX_DATA_SENT_PER_SECOND.default,
  receivedPerSecond: limitRows.SIGNALING_MAX_DATA_RECEIVED_PER_SECOND.default,
};

type RoomOpen = MediaRequests['room.open'];

/** The rooms of one media process: handles commands, emits events. */
export class Engine {
  readonly #deps: EngineDeps;
  readonly #rooms = new Map<string, Room>();
  readonly #transports = new Set<PeerTransport>();
  readonly #timers: NodeJS.Timeout[] = [];
  #ticker: NodeJS.Timeout | undefined;
  readonly #loopDelay = new LoopDelay();
  readonly #port: native.IceUdpMuxListener;
  #dataDropped = 0;
  readonly #closedTotals = { inBytes: 0, outBytes: 0, outPackets: 0 };

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    // Holds the port while no transport is open, and fails at start when another program has it.
    this.#port = holdPort(deps.udpPort, deps.bindAddress);
    this.#tickEvery(IDLE_TICK_MS);
    this.#every(200, (room, now) => room.allocate(now));
    this.#every(500, (room, now) => this.#maintain(room, now));
    this.#every(5000, (room, now) => room.rate(now));
    this.#timers.push(setInterval(() => this.#forgetClosed(), 500));
  }

  #every(ms: number, work: (room: Room, now: number) => void): void {
    this.#timers.push(setInterval(() => this.#forEachRoom(work), ms));
  }

  /** What every tick does is done in one timer, and only as often as somebody is there: each wakes the process. */
  #tickEvery(ms: number): void {
    clearInterval(this.#ticker);
    this.#loopDelay.restart();
    this.#ticker = setInterval(() => {
      this.#loopDelay.tick(this.#deps.clock.now(), ms);
      this.#forEachRoom((room, now) => room.tick(now));
      this.#deps.legs.tick(this.#deps.clock.now());
    }, ms);
  }

  #forEachRoom(work: (room: Room, now: number) => void): void {
    const now = this.#deps.clock.now();
    for (const room of [...this.#rooms.values()]) {
      try {
        work(room, now);
      } catch (error) {
        this.#deps.onError(error);
      }
    }
  }

  #maintain(room: Room, now: number): void {
    room.report(now);
    if (room.participants.size === 0 && now - room.emptySince > room.emptyTimeoutMs) this.#close(room, 'ROOM_CLOSED');
  }

  /** Once for all rooms: their transports are the node's. */
  #forgetClosed(): void {
    for (const transport of this.#transports) {
      if (transport.state !== 'CLOSED') continue;
      this.#transports.delete(transport);
      this.#closedTotals.inBytes += transport.receivedBytes;
      this.#closedTotals.outBytes += transport.sentBytes;
      this.#closedTotals.outPackets += transport.sentPackets;
    }
  }

  #close(room: Room, reason: Parameters<Room['close']>[0]): void {
    this.#rooms.delete(room.id);
    room.close(reason);
    if (this.#rooms.size === 0) this.#tickEvery(IDLE_TICK_MS);
  }

  /** Throws `MediaError` when the command is refused. */
  handle<Name extends MediaCommandName>({ type, data }: MediaCommand<Name>): MediaResponses[Name] {
    return this.#handlers[type](data);
  }

  #room(id: string): Room {
    const room = this.#rooms.get(id);
    if (!room) throw new MediaError('NOT_FOUND', 'No such room on this node.');
    return room;
  }

  #open({ room: id, emptyTimeoutSeconds = EMPTY_TIMEOUT_SECONDS, dataFallback = FALLBACK }: RoomOpen): boolean {
    const known = this.#rooms.get(id);
    if (known) {
      // Somebody is about to join.
      known.emptySince = this.#deps.clock.now();
      return false;
    }
    const { clock, random, newTrackId, candidates, legs, emit, onError } = this.#deps;
    const { udpPort, bindAddress, certificate, iceKey } = this.#deps;
    const room = new Room(
      { id, emptyTimeoutMs: emptyTimeoutSeconds * 1000, dataFallback },
      {
        clock,
        random,
        newTrackId,
        candidates,
        newLegs: (of) => legs.forRoom(of),
        emit,
        onDataDropped: () => {
          this.#dataDropped += 1;
        },
        newTransport: (name, hasData, listener) => {
          const of = { name, udpPort, bindAddress, certificate, iceKey };
          const transport = new PeerTransport({ ...of, hasData, listener, onError });
          this.#transports.add(transport);
          return transport;
        },
      },
    );
    this.#rooms.set(id, room);
    if (this.#rooms.size === 1) this.#tickEvery(TICK_MS);
    return true;
  }

  readonly #handlers: Handlers = {
    'room.open': (data) => ({ created: this.#open(data) }),
    // Between nodes the supervisor acts.
    'node.meet': () => ({}),
    'room.link': () => ({ unknown: [] }),
    'room.close': ({ room: id, reason }) => {
      const room = this.#rooms.get(id);
      if (room) this.#close(room, reason);
      return { closed: room !== undefined };
    },
    'participant.add': (data) => {
      if (!data.permissions.join) throw new MediaError('FORBIDDEN', 'This participant may not join.');
      const room = this.#room(data.room);
      const participant = room.add({
        id: data.participant,
        identity: data.identity,
        permissions: data.permissions,
        order: data.order ?? 0,
        isAutoSubscribed: data.autoSubscribe,
        isAdaptive: data.adaptiveStream ?? false,
        maxVisible: data.maxVisible,
        isPlain: data.plain ?? false,
        isViewer: data.viewer ?? false,
      });
      participant.subscriber.downlink.takesStates = data.streamStates ?? false;
      const participants = data.brief ? [] : room.snapshot({ withoutViewers: true }).participants;
      return { participant: participant.snapshot(this.#deps.clock.now()), participants };
    },
    'participant.attach': (data) => {
      const participant = this.#room(data.room).get(data.participant);
      participant.subscriber.downlink.takesStates = data.streamStates ?? false;
      participant.subscriber.repeatOffer();
      return { participant: participant.snapshot(this.#deps.clock.now()) };
    },
    'participant.remove': ({ room, participant, reason }) => ({
      removed: this.#rooms.get(room)?.remove(participant, reason) ?? false,
    }),
    'participant.update': ({ room: id, participant, permissions }) => {
      const room = this.#room(id);
      room.setPermissions(room.get(participant), permissions);
      return {};
    },
    'pub.offer': (data) =>
      this.#room(data.room).get(data.participant).publisher.offer(data.tracks, described(data.description)),
    'pub.unpublish': (data) => this.#room(data.room).get(data.participant).publisher.unpublish(data.trackIds),
    'sub.answer': (data) => {
      this.#room(data.room).get(data.participant).subscriber.answer(data.revision, described(data.description));
      return {};
    },
    'sub.accept': (data) => ({
      description: this.#room(data.room).get(data.participant).subscriber.accept(described(data.description)),
    }),
    ice: ({ room, participant, pc, ufrag }) => {
      const { publisher, subscriber } = this.#room(room).get(participant);
      const { transport } = pc === 'pub' ? publisher : subscriber;
      if (ufrag !== undefined && ufrag !== transport?.remoteUfrag)
        throw new MediaError('STALE', 'These candidates are of another ICE session.');
      return {};
    },
    'ice.restart': (data) => {
      const room = this.#room(data.room);
      const participant = room.get(data.participant);
      if (data.pc === 'pub') return participant.publisher.restart(described(data.description));
      participant.subscriber.restart();
      room.data.replaced(participant, data.received);
      return { description: null };
    },
    'track.mute': (data) => ({ changed: this.#room(data.room).mute(data) }),
    'track.settings': (data) => {
      this.#room(data.room)
        .get(data.participant)
        .subscriber.downlink.updateSettings(data.updates, this.#deps.clock.now());
      return {};
    },
    subscribe: (data) => {
      const room = this.#room(data.room);
      return room.subscribe(room.get(data.participant), data);
    },
    unsubscribe: (data) => {
      const room = this.#room(data.room);
      return room.unsubscribe(room.get(data.participant), data);
    },
    'data.send': ({ room: id, participant, topic, payload, encoding = 'utf8', to, reliable }) => {
      const room = this.#room(id);
      const sender = participant === undefined ? undefined : room.get(participant);
      if (sender && !sender.permissions.publishData)
        throw new MediaError('FORBIDDEN', 'This participant may not send data.');
      const head = { topic, to, text: encoding === 'utf8' };
      return {
        delivered: room.data.send(sender, reliable ? 'reliable' : 'lossy', head, Buffer.from(payload, encoding)),
      };
    },
    snapshot: ({ room, ...options }) => ({ rooms: this.snapshot(room, options), seq: 0 }),
    stats: ({ room: id, participant }) => {
      const participants = [...this.#room(id).participants.values()];
      const wanted = participants.filter(({ id }) => participant === undefined || id === participant);
      return {
        participants: wanted.map((one) => ({
          participant: one.id,
          identity: one.identity,
          pub: one.stats('pub'),
          sub: one.stats('sub'),
        })),
      };
    },
    ping: () => ({ at: new Date(this.#deps.clock.wall()).toISOString() }),
  };

  snapshot(id?: string, options: SnapshotOptions = {}): MediaRoomSnapshot[] {
    const room = id === undefined ? undefined : this.#rooms.get(id);
    const rooms = id === undefined ? [...this.#rooms.values()] : room ? [room] : [];
    return rooms.map((one) => one.snapshot(options));
  }

  load(): EngineLoad {
    const { size: rooms } = this.#rooms;
    const loopDelaySeconds = this.#loopDelay.takeSeconds();
    const counted = { dataDropped: this.#dataDropped, counters, ...this.#closedTotals, ...this.#deps.legs.load() };
    const load: EngineLoad = {
      rooms,
      participants: 0,
      estimateBps: 0,
      layers: LAYER_NAMES.map(() => 0),
      ...counted,
      loopDelaySeconds,
    };
    for (const room of this.#rooms.values()) {
      load.participants += room.participants.size;
      for (const { subscriber } of room.participants.values()) {
        if (!subscriber.transport?.isOpen) continue;
        load.estimateBps += Math.round(subscriber.downlink.estimator.bitsPerSecond);
        subscriber.downlink.countLayers(load.layers);
      }
    }
    for (const transport of this.#transports) {
      load.inBytes += transport.receivedBytes;
      load.outBytes += transport.sentBytes;
      load.outPackets += transport.sentPackets;
    }
    return load;
  }

  /** Idempotent. */
  close(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    for (const room of [...this.#rooms.values()]) this.#close(room, 'SERVER_SHUTDOWN');
    clearInterval(this.#ticker);
    this.#deps.legs.close();
    this.#port.stop();
  }
}

function holdPort(port: number, address: string | undefined): native.IceUdpMuxListener {
  try {
    return new native.IceUdpMuxListener(port, address);
  } catch {
    throw new Error(`UDP port ${port} cannot be opened, another program may have it`);
  }
}

function described(value: unknown): Description {
  const description = parseDescription(value);
  if (!description) throw new MediaError('BAD_DESCRIPTION', 'The description is malformed.');
  return description;
}
