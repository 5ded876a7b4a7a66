import type { Attachment, AttachmentUpload, RequestAttachment } from '@parley/contract/types.gen';
import { noAnswer } from './answer.ts';
import { ConnectionError } from './errors.ts';
import type { RequestOptions } from './transport.ts';

export interface NewFile extends Omit<RequestAttachment, 'size'> {
  content: Uint8Array<ArrayBuffer> | Blob;
}

interface Steps {
  create(room: string, body: RequestAttachment, options?: RequestOptions): Promise<AttachmentUpload>;
  complete(attachmentId: string, options?: RequestOptions): Promise<Attachment>;
}

/** All steps of an attachment: asks for a place, puts the bytes there, confirms. A message can carry the result. */
export async function uploadFile(
  steps: Steps,
  fetch: typeof globalThis.fetch,
  conversation: string,
  { content, ...file }: NewFile,
  options?: RequestOptions,
): Promise<Attachment> {
  const size = content instanceof Uint8Array ? content.byteLength : content.size;
  const { attachment, uploadUrl, method, headers } = await steps.create(conversation, { ...file, size }, options);
  const response = await fetch(uploadUrl, {
    method,
    headers,
    body: content,
    ...(options?.signal ? { signal: options.signal } : {}),
  }).catch((cause) => {
    const asked = { baseUrl: new URL(uploadUrl).origin, requestId: '', signal: options?.signal };
    throw noAnswer(asked, 'cannot be reached. Upload the file again.', cause);
  });
  if (!response.ok)
    throw new ConnectionError({
      code: 'upload_failed',
      message: `The storage answered ${response.status} to the upload of ${attachment.id}.`,
      retryable: response.status >= 500,
    });
  return steps.complete(attachment.id, options);
}
