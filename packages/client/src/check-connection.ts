import type { Credential } from './credential.ts';
import { asSvcError, ConnectionError, MediaError, PermissionError, type SvcError } from './errors.ts';
import { createTestTracks } from './media/test-tracks.ts';
import { Room } from './room.ts';
import { ROOM_MESSAGES } from './signal/room-messages.ts';

export interface CheckOptions {
  url: string;
  /** An RTC token. Its identity joins the room while the check runs: use one that is in no call. */
  token: Credential;
  /** Also look for a camera and a microphone. Default true. */
  devices?: boolean;
}

export interface CheckStep {
  name: 'browser' | 'secureContext' | 'signaling' | 'media' | 'data' | 'camera' | 'microphone';
  status: 'ok' | 'failed' | 'skipped';
  ms: number;
  /** What was found: the kind of connection, the number of devices, why it was skipped. */
  detail?: string;
  error?: SvcError;
}

/** Tries, step by step, what a call needs. Iterate it to show each step as it ends. */
export async function* checkConnection(options: CheckOptions): AsyncGenerator<CheckStep> {
  // Loaded when asked for: most pages never do.
  const check = await import('./connection-check.ts').catch(() => null);
  const parts = { asSvcError, MediaError, PermissionError, createTestTracks, Room, ROOM_MESSAGES };
  if (check) yield* check.runCheck(parts, options);
  else yield { name: 'signaling', status: 'failed', ms: 0, error: new ConnectionError('network') };
}
