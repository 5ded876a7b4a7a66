import {
  chatServerFrames,
  closeCodes,
  type ErrorRow,
  errors,
  type ServerFrameRow,
  signalingServerFrames,
} from '@parley/contract';
import { Compile } from 'typebox/schema';
import type { ServerFrame, SocketClient } from '../clients/socket-client.ts';

/** What is wrong with what a socket said; null when nothing is. */
export interface FrameChecker {
  frame(frame: ServerFrame): string | null;
  end(closed: NonNullable<SocketClient['closed']>): string | null;
}

export const chatFrameChecker = createFrameChecker(chatServerFrames);
export const signalingFrameChecker = createFrameChecker(signalingServerFrames);

function createFrameChecker(table: Readonly<Record<string, ServerFrameRow>>): FrameChecker {
  const rows = new Map(Object.entries(table).map(([type, { data }]) => [type, Compile(data)]));
  return {
    frame(frame) {
      const row = rows.get(frame.type);
      if (!row) return `no such frame is declared: ${short(frame)}`;
      if (!row.Check(frame)) return `the frame does not fit its schema: ${short(frame)}`;
      const bad = refusalsIn(frame).find((refusal) => codeProblem(refusal) !== null);
      return bad ? `${codeProblem(bad)}: ${short(frame)}` : null;
    },
    end: ({ code, reason }) => (expectedEnds.has(code) ? null : `closed with ${code} ${reason}`),
  };
}

interface Refusal {
  code: unknown;
  svcCode: unknown;
}

/** The refusal an `error` frame is, and those inside an answer: a subscribe is refused for each conversation apart. */
function refusalsIn(value: unknown): Refusal[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(refusalsIn);
  return 'svcCode' in value
    ? [{ code: 'code' in value ? value.code : undefined, svcCode: value.svcCode }, ...inside]
    : inside;
}

function codeProblem({ code, svcCode }: Refusal): string | null {
  const known: ErrorRow | undefined = Object.hasOwn(errors, String(svcCode))
    ? errors[svcCode as keyof typeof errors]
    : undefined;
  if (!known) return `unknown code ${svcCode}`;
  if (`SVC_${code}` !== svcCode) return `${code} is not ${svcCode} in short`;
  return known.status >= 500 ? 'a fault of ours' : null;
}

/** Declared, and no fault of ours: nothing drains here, and there is a media node (4503). */
const expectedEnds: ReadonlySet<number> = new Set(
  Object.keys(closeCodes)
    .map(Number)
    .filter((code) => code < 4500),
);

const short = (frame: ServerFrame): string => JSON.stringify(frame).slice(0, 500);
