import type { WireValue } from '../shared/values.ts';

/** What the database worker is started with. */
export interface WorkerStart {
  /** PostgreSQL's data folder; null keeps everything in memory. */
  dataFolder: string | null;
  /** When `dataFolder` does not exist yet, the first of these that does is copied; else PGlite runs initdb: seconds. */
  templates: readonly string[];
  /** For memory: a file made from `dump`. */
  snapshotFile: string | null;
  /** With less free space the database takes no more writes. */
  freeBytesMin: number;
}

/** PostgreSQL as WebAssembly: compiled once for a process, since optimizing it costs seconds of processor time. */
export interface Engine {
  pgliteWasmModule: WebAssembly.Module;
  initdbWasmModule: WebAssembly.Module;
}

export interface WireStatement {
  text: string;
  values: WireValue[];
}

export type Request =
  | ({ id: number; kind: 'statement' } & WireStatement)
  | { id: number; kind: 'batch'; statements: WireStatement[] }
  | { id: number; kind: 'script'; text: string }
  | { id: number; kind: 'dump' }
  | { id: number; kind: 'close' };

export interface StatementResult {
  rows: Record<string, unknown>[];
  count: number;
  command: string;
  /** Columns that arrive as Uint8Array and must become Buffers again. */
  byteColumns: string[];
}

export type Reply =
  | { id: number; status: 'done'; results: StatementResult[] }
  | { id: number; status: 'dumped'; tar: Uint8Array }
  | { id: number; status: 'failed'; error: WireError }
  | { status: 'ready' };

export interface WireError {
  message: string;
  code: string | undefined;
  constraint: string | undefined;
  table: string | undefined;
  column: string | undefined;
}
