import type { AttachmentMedia } from '@parley/contract';
import type { SharpOptions } from 'sharp';
import { rgbaToThumbHash } from 'thumbhash';
import { pictureSizes } from './kinds.ts';
import type { StoredSize } from './messages.ts';

/** 40 million: more than cameras make, and 160 MB at most while it is open. */
const pixelsMax = 40_000_000;
const secondsMax = 15;
const quality = 78;
/** The most that a ThumbHash is made of. */
const thumbMax = 100;

export class LibraryMissing extends Error {
  override name = 'LibraryMissing';
}

type Sharp = typeof import('sharp').default;

async function load(): Promise<Sharp> {
  try {
    const { default: sharp } = await import('sharp');
    // One thread, nothing kept: one picture at a time, and its memory given back.
    sharp.concurrency(1);
    sharp.cache(false);
    return sharp;
  } catch (error) {
    throw new LibraryMissing(error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error));
  }
}

/** By its first bytes, whatever it says it is: the library would open far more than we want opened. */
function formatOf(bytes: Buffer): string | null {
  const text = bytes.subarray(0, 16).toString('latin1');
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (/^GIF8[79]a/.test(text)) return 'gif';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'webp';
  return /^ftypavi[fs]/.test(text.slice(4)) ? 'heif' : null;
}

export async function readPicture(bytes: Buffer): Promise<{ media: AttachmentMedia; sizes: StoredSize[] }> {
  const format = formatOf(bytes);
  if (format === null) throw new Error('not a picture of a kind that is read');
  const sharp = await load();
  const options: SharpOptions = { limitInputPixels: pixelsMax, failOn: 'error', sequentialRead: true, pages: 1 };
  const found = await sharp(bytes, options).metadata();
  if (found.format !== format) throw new Error('not the kind of picture that it begins as');
  const { width, height } = found.autoOrient;
  if (width * height > pixelsMax) throw new Error('too many pixels');

  // The largest is made of the file, the others of it: a file is opened once.
  const sizes: StoredSize[] = [];
  let source = bytes;
  for (const [at, size] of [...pictureSizes.entries()].reverse()) {
    if (Math.max(width, height) <= (pictureSizes[at - 1] ?? 0)) continue;
    const { data, info } = await sharp(source, options)
      .autoOrient()
      .resize({ width: size, height: size, fit: 'inside', withoutEnlargement: true })
      .timeout({ seconds: secondsMax })
      .webp({ quality, effort: 3 })
      .toBuffer({ resolveWithObject: true });
    source = data;
    sizes.unshift({ size, width: info.width, height: info.height, bytes: data.length, content: data });
  }
  const thumb = await sharp(source)
    .resize({ width: thumbMax, height: thumbMax, fit: 'inside', withoutEnlargement: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const hash = rgbaToThumbHash(thumb.info.width, thumb.info.height, thumb.data);
  const media: AttachmentMedia = {
    kind: 'image',
    width,
    height,
    animated: (found.pages ?? 1) > 1,
    thumbhash: Buffer.from(hash).toString('base64'),
    sizes: sizes.map(({ content: _content, ...shown }) => shown),
  };
  return { media, sizes };
}
