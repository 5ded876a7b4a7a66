/** How many participants rooms may have in this deployment. */
export interface ParticipantsMax {
  /** Of a room that asks for no number of its own. */
  usual: number;
  /** What a room may ask for, where that is more. */
  large: number;
}

/** The ceiling of a room that asks for this many. */
export const ceilingOf = (own: number | null, { usual, large }: ParticipantsMax): number =>
  own === null ? usual : Math.min(own, Math.max(usual, large));
