import type { Environment } from '@parley/contract';
import type { PushAddress } from './device-store.ts';
import type { Notification } from './notification.ts';
import type { SettingsRow } from './settings-store.ts';

/** What a push service made of a notification. */
export type PushAnswer =
  | { is: 'SENT' }
  /** It does not know the device any more. */
  | { is: 'GONE' }
  /** It cannot now; it may have said for how long. */
  | { is: 'BUSY'; why: string; afterMs: number | null }
  /** It never will: our keys or the notification are not to its liking. */
  | { is: 'REFUSED'; why: string };

interface PushOrder<Kind extends PushAddress['kind']> {
  address: Extract<PushAddress, { kind: Kind }>;
  notification: Notification;
  environment: Environment;
  settings: SettingsRow;
}

/** One of the three protocols. Never rejects but for faults of our own. */
export interface Transport<Kind extends PushAddress['kind']> {
  send(order: PushOrder<Kind>): Promise<PushAnswer>;
  close(): void;
}

export const isBusy = (status: number): boolean => status === 429 || status >= 500;
