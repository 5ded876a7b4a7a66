import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { LimitName } from './limits.ts';

/** One frame a client may send on a socket. */
export interface ClientFrameRow {
  data: TObject;
  /** Its own budget per subject and window. */
  budget?: LimitName;
  /** The `data` of the answer; left out: the answer has none. */
  replies?: TSchema;
  does: string;
}

/** One frame the server sends. */
export interface ServerFrameRow {
  data: TObject;
  when: string;
}

export type ClientFrameTable = Readonly<Record<string, ClientFrameRow>>;
export type ServerFrameTable = Readonly<Record<string, ServerFrameRow>>;

export const clientFrames = <const T extends ClientFrameTable>(rows: T): T => rows;
export const serverFrames = <const T extends ServerFrameTable>(rows: T): T => rows;

/** What every socket takes beside its own frames. */
export const commonClientFrames = clientFrames({
  ping: {
    data: Type.Object({ t: Type.Optional(Type.Unknown()) }),
    does: 'Asks for a `pong` with the same `t`; free, and answered at once.',
  },
});

export type FrameData<R extends { data: TObject }> = Static<R['data']>;

/** The frame of one row, or of several: `K` is inferred from `type`. */
export type FrameOf<T extends Readonly<Record<string, { data: TObject }>>, K extends keyof T> = {
  type: K;
} & FrameData<T[K]>;

/** Any frame of a table, discriminated by `type`. */
export type ClientFrame<T extends ClientFrameTable> = { [K in keyof T & string]: FrameOf<T, K> }[keyof T & string];
export type ServerFrame<T extends ServerFrameTable> = { [K in keyof T & string]: FrameOf<T, K> }[keyof T & string];

/** The `data` that answers a frame. */
export type ReplyTo<R extends ClientFrameRow> = R extends { replies: infer S extends TSchema } ? Static<S> : undefined;

/** What the sender of a server frame gives: the socket adds `ts`. */
export type FrameFields<R extends { data: TObject }> = WithoutTime<FrameData<R>>;
type WithoutTime<F> = F extends unknown ? Omit<F, 'ts'> : never;
