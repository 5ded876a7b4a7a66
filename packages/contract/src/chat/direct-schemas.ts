import { type Static, Type } from 'typebox';
import { Identity } from '../schema.ts';

/** How many people a direct conversation has. */
export const directPeople = { min: 2, max: 8 } as const;

export const OpenDirect = Type.Object({
  /** In any order; the same person twice counts once. */
  userIds: Type.Array(Identity, { minItems: directPeople.min, maxItems: directPeople.max }),
});
export type OpenDirect = Static<typeof OpenDirect>;
