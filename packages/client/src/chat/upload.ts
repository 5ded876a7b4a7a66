import { ApiError, ConnectionError } from '../errors.ts';
import { type Http, pathOf } from '../http.ts';
import type { Runtime } from '../runtime.ts';
import type { Metadata } from './records.ts';

export type OnProgress = (done: number, bytes: { loaded: number; total: number }) => void;

export interface UploadOptions {
  /** 0 to 1, and the bytes. Where the platform cannot tell (Node, service workers), only once, at the end. */
  onProgress?: OnProgress;
  signal?: AbortSignal;
  /** Default: the file's own. */
  filename?: string;
  metadata?: Metadata;
}

interface UploadTicket {
  attachment: { id: string };
  uploadUrl: string;
  method: string;
  headers: Record<string, string>;
}

/** Asks for a signed address, uploads the bytes there and completes the upload. */
export async function upload(
  { http, runtime, conversationId }: { http: Http; runtime: Pick<Runtime, 'fetch'>; conversationId: string },
  file: Blob,
  { onProgress, signal, filename, metadata }: UploadOptions = {},
): Promise<{ attachmentId: string }> {
  const body = {
    filename: filename ?? (file as Partial<File>).name ?? 'file',
    mimeType: file.type || 'application/octet-stream',
    size: file.size,
    metadata,
  };
  // The answers of our own routes.
  const ticket = (await http.call('POST', `${pathOf(conversationId)}/attachments`, { body, signal })) as UploadTicket;
  await put(ticket, file, onProgress ?? (() => {}), signal, runtime);
  onProgress?.(1, { loaded: file.size, total: file.size });
  await http.call('POST', `/v1/chat/attachments/${ticket.attachment.id}/complete`, { signal });
  return { attachmentId: ticket.attachment.id };
}

async function put(
  ticket: UploadTicket,
  file: Blob,
  onProgress: OnProgress,
  signal: AbortSignal | undefined,
  { fetch }: Pick<Runtime, 'fetch'>,
): Promise<void> {
  const { uploadUrl, method, headers } = ticket;
  if (typeof XMLHttpRequest !== 'undefined') return putWithProgress(ticket, file, onProgress, signal);
  const response = await fetch(uploadUrl, { method, headers, body: file, signal: signal ?? null }).catch((cause) => {
    throw signal?.aborted ? signal.reason : new ConnectionError('network', { cause });
  });
  if (!response.ok) throw refused(response.status);
}

/** `fetch` cannot tell how much of a body has left. */
function putWithProgress(
  { uploadUrl, method, headers }: UploadTicket,
  file: Blob,
  onProgress: OnProgress,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, uploadUrl);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0, { loaded, total });
    request.onload = () => (request.status < 300 ? resolve() : reject(refused(request.status)));
    request.onerror = () => reject(new ConnectionError('network'));
    request.onabort = () => reject(signal?.reason);
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    if (signal?.aborted) return reject(signal.reason);
    request.send(file);
  });
}

const refused = (status: number): ApiError =>
  new ApiError({
    code: 'upload_failed',
    message: `The file storage answered ${status}. Upload it again.`,
    retryable: status >= 500,
  });
