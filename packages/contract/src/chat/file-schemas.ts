import { type Static, Type } from 'typebox';
import { Line, Nullable, Timestamp } from '../schema.ts';
import { AttachmentScan } from './attachment-schemas.ts';
import { HookFailure } from './moderation-schemas.ts';

export const LinkPreviewSettings = Type.Object({ enabled: Type.Boolean() });
export type LinkPreviewSettings = Static<typeof LinkPreviewSettings>;

export const SetScanHook = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2_048 }),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 10_000 })),
  /** What becomes of a file that your scanner never answered for: `closed` keeps it from being fetched. */
  onFailure: Type.Optional(HookFailure),
});
export type SetScanHook = Static<typeof SetScanHook>;

export const ScanResult = Type.Object({
  result: Type.Enum(['CLEAN', 'REJECTED']),
  /** For your own records: it is in the event. */
  reason: Type.Optional(Line(1, 256)),
});
export type ScanResult = Static<typeof ScanResult>;

export const AttachmentScanned = Type.Object({
  attachmentId: Type.String(),
  conversationId: Type.String(),
  messageId: Nullable(Type.String()),
  uploaderId: Nullable(Type.String()),
  result: AttachmentScan,
  reason: Nullable(Type.String()),
  at: Timestamp,
});
export type AttachmentScanned = Static<typeof AttachmentScanned>;
