import type {
  MediaCommand,
  MediaCommandName,
  MediaErrorCode,
  MediaEvent,
  MediaResponses,
} from '@parley/contract/media-control';
import type { EngineLoad } from '../media/engine.ts';
import type { PipeOrder } from '../pipes/legs.ts';

/** The node's ICE key, by the environment: arguments can be read by every user of the machine. */
export const ICE_KEY_VARIABLE = 'PARLEY_ICE_KEY';

/** What the supervisor gives a media process at its start, as one JSON argument. */
export interface WorkerSettings {
  udpPort: number;
  bindAddress: string | null;
  candidates: string[];
  /** Where it listens for pipes of other nodes, if it does. */
  fleetPipes?: { host: string; port: number } | undefined;
}

/** Supervisor → media process. */
export type SupervisorMessage = WorkerRequest | WorkerAddresses | WorkerPipes;

/** What clients are told from now on. */
export interface WorkerAddresses {
  candidates: string[];
}

/** About pipes to other media processes. */
export interface WorkerPipes {
  pipes: PipeOrder;
}

export interface WorkerRequest<Name extends MediaCommandName = MediaCommandName> {
  id: number;
  command: MediaCommand<Name>;
}

/** Media process → supervisor. */
export type WorkerMessage =
  /** With the UDP ports of its pipes, within the node and to others. */
  | { kind: 'ready'; pipePort: number; fleetPort: number | null }
  /** Another node is not heard on this pipe, or again. */
  | { kind: 'silence'; peer: string; isSilent: boolean }
  /** It could not start, and exits. */
  | { kind: 'failed'; message: string }
  | { kind: 'answer'; ref: number; data: MediaResponses[MediaCommandName] }
  | { kind: 'refusal'; ref: number; code: MediaErrorCode; message: string }
  | { kind: 'event'; event: MediaEvent }
  | { kind: 'load'; load: WorkerLoad }
  | { kind: 'error'; message: string };

export interface WorkerLoad extends EngineLoad {
  /** Microseconds of processor time since its start. */
  cpuMicros: number;
  memoryBytes: number;
}
