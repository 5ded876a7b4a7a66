import type { CheckOptions, CheckStep } from './check-types.ts';
import { asSvcError, ConnectionError, MediaError, PermissionError } from './errors.ts';
import { createTestTracks } from './media/test-tracks.ts';
import { Room } from './room.ts';
import { ROOM_MESSAGES } from './signal/room-messages.ts';

/** Tries, step by step, what a call needs. Iterate it to show each step as it ends. */
export async function* checkConnection(options: CheckOptions): AsyncGenerator<CheckStep> {
  // Loaded when asked for: most pages never do.
  const check = await import('./connection-check.ts').catch(() => null);
  const parts = { asSvcError, MediaError, PermissionError, createTestTracks, Room, ROOM_MESSAGES };
  if (check) yield* check.runCheck(parts, options);
  else yield { name: 'signaling', status: 'failed', ms: 0, error: new ConnectionError('network') };
}
