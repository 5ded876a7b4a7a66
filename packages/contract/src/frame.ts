import { type Static, type TObject, Type } from 'typebox';
import type { LimitName } from './limits.ts';

/** One frame a client may send on a socket. */
export interface ClientFrameRow {
  data: TObject;
  /** Its own budget per subject and window. */
  budget?: LimitName;
  does: string;
}

/** One frame the server sends. */
export interface ServerFrameRow {
  data: TObject;
  when: string;
}

export const clientFrames = <const T extends Record<string, ClientFrameRow>>(rows: T): T => rows;
export const serverFrames = <const T extends Record<string, ServerFrameRow>>(rows: T): T => rows;

/** What every socket takes beside its own frames. */
export const commonClientFrames = clientFrames({
  ping: {
    data: Type.Object({ t: Type.Optional(Type.Unknown()) }),
    does: 'Asks for a `pong` with the same `t`; free, and answered at once.',
  },
});

export type FrameData<R extends { data: TObject }> = Static<R['data']>;
