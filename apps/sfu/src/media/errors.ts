import type { MediaErrorCode } from '@parley/contract/media-control';

/** A command that cannot be carried out; its code and message go back to the control plane. */
export class MediaError extends Error {
  override name = 'MediaError';
  readonly code: MediaErrorCode;

  constructor(code: MediaErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
