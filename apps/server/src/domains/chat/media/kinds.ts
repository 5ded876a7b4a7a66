/** What is looked at once it is uploaded. */
export type MediaKind = 'image' | 'audio';

/** Never SVG: it is a program as much as a picture. */
const kinds: Readonly<Record<string, MediaKind>> = {
  'image/jpeg': 'image',
  'image/png': 'image',
  'image/webp': 'image',
  'image/gif': 'image',
  'image/avif': 'image',
  'audio/wav': 'audio',
  'audio/x-wav': 'audio',
  'audio/wave': 'audio',
  'audio/vnd.wave': 'audio',
  'audio/mpeg': 'audio',
  'audio/mp3': 'audio',
  'audio/ogg': 'audio',
  'audio/opus': 'audio',
  'audio/webm': 'audio',
  'audio/mp4': 'audio',
  'audio/x-m4a': 'audio',
  'audio/m4a': 'audio',
  'audio/aac': 'audio',
};

/** Larger files are kept as they are. */
const bytesMax = 64 * 1024 * 1024;

export const mediaKindOf = ({ mimeType, size }: { mimeType: string; size: number }): MediaKind | null =>
  size > bytesMax ? null : (kinds[mimeType.toLowerCase().split(';', 1)[0]?.trim() ?? ''] ?? null);

/** Pixels of the longer side of the pictures that are made smaller. */
export const pictureSizes = [320, 960] as const;

/** Where a smaller picture lies: known without asking, so that the process that deletes the file finds it. */
export const sizeKey = (id: string, size: number): string => `chat/${id}/s${size}`;
