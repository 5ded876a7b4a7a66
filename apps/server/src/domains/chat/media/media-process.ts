/** The process that opens files of strangers: if one of them breaks it, the service does not notice. */
import type { MediaReply, MediaRequest } from './messages.ts';
import { LibraryMissing, readPicture } from './picture.ts';
import { readSound } from './sound.ts';

let begun: Extract<MediaRequest, { is: 'begin' }> | null = null;
let chunks: Uint8Array[] = [];

async function read(): Promise<MediaReply> {
  const bytes = Buffer.concat(chunks);
  chunks = [];
  try {
    if (begun?.kind === 'image') return { is: 'read', ...(await readPicture(bytes)) };
    return { is: 'read', media: await readSound(bytes, begun?.mimeType ?? ''), sizes: [] };
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : String(error);
    return { is: error instanceof LibraryMissing ? 'unavailable' : 'unreadable', why };
  }
}

process.on('message', (request: MediaRequest) => {
  if (request.is === 'begin') [begun, chunks] = [request, []];
  else if (request.is === 'bytes') chunks.push(request.bytes);
  else read().then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit());
