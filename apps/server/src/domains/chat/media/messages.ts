import type { AttachmentMedia, PictureSize } from '@parley/contract';
import type { MediaKind } from './kinds.ts';

/** What is said to the process that reads files: what comes, its bytes, and that they are all. */
export type MediaRequest =
  | { is: 'begin'; kind: MediaKind; mimeType: string }
  | { is: 'bytes'; bytes: Uint8Array }
  | { is: 'end' };

export type MediaReply =
  | { is: 'read'; media: AttachmentMedia; sizes: StoredSize[] }
  /** Not what it says, broken, or too large to be opened. */
  | { is: 'unreadable'; why: string }
  /** The library does not run on this machine. */
  | { is: 'unavailable'; why: string };

export type StoredSize = PictureSize & { content: Uint8Array };
