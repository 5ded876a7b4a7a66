import { type Static, Type } from 'typebox';
import { Nullable } from '../schema.ts';

/** Loudness over the whole length, 0 to 100. */
export const Waveform = Type.Array(Type.Integer({ minimum: 0, maximum: 100 }), { minItems: 1, maxItems: 128 });
export type Waveform = Static<typeof Waveform>;

/** A picture made smaller, as WebP and without what the original says of its maker and place. */
export const PictureSize = Type.Object({
  /** At most so many pixels on the longer side: what `size` of a download asks for. */
  size: Type.Integer(),
  width: Type.Integer(),
  height: Type.Integer(),
  bytes: Type.Integer(),
});
export type PictureSize = Static<typeof PictureSize>;

export const AttachmentMedia = Type.Object({
  kind: Type.Enum(['image', 'audio']),
  /** Of pictures, as they are shown: turned the way that the camera noted. */
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
  animated: Type.Optional(Type.Boolean()),
  /** Base64 of a ThumbHash. */
  thumbhash: Type.Optional(Type.String()),
  sizes: Type.Optional(Type.Array(PictureSize)),
  /** Of sounds. */
  durationMs: Type.Optional(Nullable(Type.Integer())),
  waveform: Type.Optional(Nullable(Waveform)),
});
export type AttachmentMedia = Static<typeof AttachmentMedia>;

/** Asked and not answered, may be fetched, may not, was never answered and may be fetched. */
export const AttachmentScan = Type.Enum(['PENDING', 'CLEAN', 'REJECTED', 'SKIPPED']);
export type AttachmentScan = Static<typeof AttachmentScan>;

/** What a link leads to, as its page says. Texts, never markup. */
export const LinkPreview = Type.Object({
  url: Type.String(),
  title: Type.String(),
  description: Nullable(Type.String()),
  siteName: Nullable(Type.String()),
  /** As the page names it: it is not fetched by the service, and comes from the site to the client that shows it. */
  imageUrl: Nullable(Type.String()),
});
export type LinkPreview = Static<typeof LinkPreview>;
