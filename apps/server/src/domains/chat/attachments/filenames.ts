/** A file name is data for people: no paths, no control characters, nothing that changes the direction of text. */
export function cleanFilename(name: string): string {
  const base = name.replace(/^.*[/\\]/su, '');
  const shown = base.replace(/[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, '').trim();
  const cut = shorten(shown, 255);
  return cut === '' || cut === '.' || cut === '..' ? 'file' : cut;
}

/** At most `bytesMax` bytes of UTF-8, never half a character. */
function shorten(text: string, bytesMax: number): string {
  let bytes = 0;
  let kept = '';
  for (const point of text) {
    bytes += Buffer.byteLength(point);
    if (bytes > bytesMax) break;
    kept += point;
  }
  return kept;
}

/** What a browser may show by itself. Never anything that can carry a script. */
const inlineTypes = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'video/mp4',
  'video/webm',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
]);

export const isInlineType = (mimeType: string): boolean =>
  inlineTypes.has(mimeType.toLowerCase().split(';', 1)[0]?.trim() ?? '');
