import type { ProjectScope } from '../../core/caller.ts';
import type { Keyring } from '../../core/keyring.ts';

/** No user id begins like this. */
export const erasedMark = '~';

/**
 * The names under which a user may be stored: their own, and those of a user who was erased. The latter are keyed
 * hashes: they keep old tokens void without saying whose they were.
 */
export type NamesOf = (scope: ProjectScope, userId: string) => string[];

export const createNamesOf =
  ({ keyring }: { keyring: Keyring }): NamesOf =>
  ({ projectId, environment }, userId) => [
    userId,
    ...keyring
      .macs('erased-user', `${projectId} ${environment} ${userId}`)
      .map((mac) => `${erasedMark}${mac.toString('base64url')}`),
  ];

export const isErasedName = (name: string): boolean => name.startsWith(erasedMark);
