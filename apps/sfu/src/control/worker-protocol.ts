import type { MediaCommandName, MediaErrorCode, MediaEventName } from '@parley/contract/media-control';
import type { EngineLoad } from '../media/engine.ts';

/** What the supervisor tells a media process at its start, as one JSON argument. */
export interface WorkerSettings {
  udpPort: number;
  bindAddress: string | null;
  candidates: string[];
}

/** Supervisor → process. */
export interface WorkerRequest {
  id: number;
  type: MediaCommandName;
  data: unknown;
}

/** Process → supervisor. */
export type WorkerMessage =
  | { kind: 'ready' }
  /** It could not start, and ends. */
  | { kind: 'failed'; message: string }
  | { kind: 'answer'; ref: number; data: unknown }
  | { kind: 'refusal'; ref: number; code: MediaErrorCode; message: string }
  | { kind: 'event'; type: MediaEventName; data: unknown }
  | { kind: 'load'; load: WorkerLoad }
  | { kind: 'error'; message: string };

export interface WorkerLoad extends EngineLoad {
  /** Microseconds of processor time since its start. */
  cpuMicros: number;
  memoryBytes: number;
}
