import { type Call, createCall } from './call.ts';
import { type CallRuntime, callRuntime } from './call-runtime.ts';
import type { Devices } from './devices/devices.ts';
import type { Events } from './events.ts';
import type { LocalParticipant } from './media/local-participant.ts';
import type { RemoteParticipant } from './media/remote-participant.ts';
import type { RoomEvents, RoomOptions, RoomState } from './room-types.ts';
import type { ConnectOptions } from './session.ts';
import type { RpcHandler } from './signal/rpc-exchange.ts';
import type { Store } from './store.ts';

/** A call. What happens in it is emitted as events, and `state` has the current picture. */
export class Room implements Events<RoomEvents>, AsyncDisposable {
  readonly state: Store<RoomState>;
  readonly self: LocalParticipant;
  /** Those it was made with: a choice in them takes effect in the call. */
  readonly devices: Devices | null;
  /** The id this connection has in the dashboard. */
  readonly connectionId: string;
  readonly on: Events<RoomEvents>['on'];
  readonly once: Events<RoomEvents>['once'];
  readonly #call: Call;

  /** The second argument is for tests: another clock, another socket. */
  constructor(options: RoomOptions, runtime: CallRuntime = callRuntime) {
    this.#call = createCall(options, runtime);
    this.state = this.#call.state;
    this.self = this.#call.self;
    this.devices = options.devices ?? null;
    this.connectionId = this.#call.connectionId;
    this.on = this.#call.events.on;
    this.once = this.#call.events.once;
  }

  /** The other participants, by identity. */
  get participants(): ReadonlyMap<string, RemoteParticipant> {
    return this.#call.participants;
  }

  /** Resolves once this participant is in the room; rejects with a ConnectionError whose `reason` says why not. */
  async connect(options?: ConnectOptions): Promise<void> {
    await this.#call.connect(options);
  }

  /** Leaves for good; tracks are stopped. `connect()` joins again. */
  async leave(): Promise<void> {
    this.#call.leave();
  }

  /** Call it in a click after `audioBlocked` was emitted: browsers play sound only after a gesture. */
  async startAudio(): Promise<void> {
    await this.#call.startAudio();
  }

  /** Answers requests that other participants make with `self.rpc`. */
  handleRpc(method: string, handler: RpcHandler): () => void {
    return this.#call.handleRpc(method, handler);
  }

  /** Of both transports; null for one that is not open. */
  async getStats(): Promise<{ pub: RTCStatsReport | null; sub: RTCStatsReport | null }> {
    return this.#call.getStats();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }
}
