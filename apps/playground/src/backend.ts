import { SvcError } from '@parley/client';

/** Calls to the playground's own backend, which holds the API key. */
export async function ask<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
  const response = await fetch(`/playground/api/${path}`, {
    method,
    ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
  });
  const answer = await response.json();
  if (response.ok) return answer as T;
  const { code, message, requestId } = answer as { code: string; message: string; requestId: string };
  throw new SvcError({ code, message, requestId, retryable: response.status >= 500 });
}

export interface RoomSummary {
  name: string;
  participantCount: number | null;
}

export interface Stream {
  id: string;
  title: string;
  status: 'CREATED' | 'LIVE' | 'ENDED';
  hostIdentity: string;
  viewerCount: number | null;
  startedAt: string | null;
}

const at = (room: string): string => `rooms/${encodeURIComponent(room)}`;

export const backend = {
  rooms: () => ask<RoomSummary[]>('GET', 'rooms'),
  openRoom: (room: string) => ask<{ name: string }>('POST', at(room)),
  rtcToken: async (room: string, identity: string, name: string, ttlSeconds?: number) =>
    (await ask<{ token: string }>('POST', `${at(room)}/rtc-token`, { identity, name, ttlSeconds })).token,
  chatToken: async (room: string, identity: string) =>
    (await ask<{ token: string }>('POST', `${at(room)}/chat-token`, { identity })).token,
  inboxToken: async (identity: string) => (await ask<{ token: string }>('POST', 'chat/token', { identity })).token,
  streams: () => ask<Stream[]>('GET', 'streams'),
  stream: (id: string) => ask<Stream>('GET', `streams/${id}`),
  createStream: (title: string, identity: string) => ask<Stream>('POST', 'streams', { title, identity }),
  startStream: (id: string) => ask<Stream>('POST', `streams/${id}/start`, {}),
  endStream: (id: string) => ask<Stream>('POST', `streams/${id}/end`, {}),
  downloadUrl: async (attachmentId: string) => (await ask<{ url: string }>('GET', `attachments/${attachmentId}`)).url,
};
