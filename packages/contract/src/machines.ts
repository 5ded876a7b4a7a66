/** State machines: a transition that has no entry is SVC_INVALID_STATE_TRANSITION. The store moves by compare-and-set. */
export type Machine = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Where `action` leads from `from`, or undefined. */
export const nextState = (machine: Machine, from: string, action: string): string | undefined =>
  machine[from]?.[action];

export const liveStreamMachine = {
  // Ended before it started: durationMs is null.
  CREATED: { start: 'LIVE', end: 'ENDED' },
  LIVE: { end: 'ENDED' },
  ENDED: {},
} as const satisfies Machine;
