import type { Credential } from './credential.ts';
import type { SvcError } from './errors.ts';

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
