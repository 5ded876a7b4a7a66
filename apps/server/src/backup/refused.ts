import { StartRefused } from '../core/start-refused.ts';

/** A backup or restore that cannot be: the message is one sentence that says what to do. */
export class BackupRefused extends StartRefused {
  override name = 'BackupRefused';
}
