import { type Attachment, fail } from '@parley/contract';
import { sizeKey } from '../media/kinds.ts';

/** The form of a link that is for a scanner alone. */
export const scannersForm = 'scan';

type Stored = Pick<Attachment, 'id' | 'filename' | 'mimeType' | 'size' | 'media'> & { blobKey: string };

interface Form {
  blobKey: string;
  filename: string;
  mimeType: string;
  size: number;
  /** How its signed URL names it; undefined for the file itself. */
  as: string | undefined;
}

/**
 * The file as it is fetched: by the size that a caller asks for, or by the form that a signed URL names. Without a
 * picture of such a size it is the file itself.
 */
export function fileIn(file: Stored, asked: { size?: number | undefined; as?: string | undefined }): Form {
  const sizes = file.media?.sizes ?? [];
  const picture = asked.as ? sizes.find(({ size }) => String(size) === asked.as) : smallestFor(sizes, asked);
  const { blobKey, filename, mimeType, size } = file;
  if (!picture) return { blobKey, filename, mimeType, size, as: undefined };
  return {
    blobKey: sizeKey(file.id, picture.size),
    filename: `${filename.replace(/\.[^.]*$/, '')}.webp`,
    mimeType: 'image/webp',
    size: picture.bytes,
    as: String(picture.size),
  };
}

type Sizes = NonNullable<NonNullable<Attachment['media']>['sizes']>;

function smallestFor(sizes: Sizes, { size }: { size?: number | undefined }): Sizes[number] | undefined {
  if (size === undefined) return undefined;
  // A small picture has one size, which is as large as it is itself.
  const last = sizes.length === 1 ? sizes[0] : undefined;
  return sizes.find((one) => one.size >= size) ?? last;
}

/** Fails while a scan is waited for, and after it has found something. */
export function assertFetchable({ scan }: Pick<Attachment, 'scan'>): void {
  if (scan === 'PENDING') fail('SVC_ATTACHMENT_NOT_SCANNED');
  if (scan === 'REJECTED') fail('SVC_ATTACHMENT_REJECTED');
}
