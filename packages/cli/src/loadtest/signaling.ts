import { signalingHeartbeatIntervalMs, signalingPath, signalingSubprotocol } from '@parley/contract';
import type { Description } from '@parley/media-description';

interface Frame {
  type: string;
  [field: string]: unknown;
}

/** A participant's signaling connection, as a client of any language would have it. */
export interface Signaling {
  request(type: string, fields: object): Promise<unknown>;
  send(type: string, fields: object): void;
  close(): void;
}

const answerMs = 15_000;

export interface Offer {
  revision: number;
  description: Description;
}

/** Joins the room of the token; rejects with the code that refused it. What `answer` gives answers an offer. */
export async function join(
  url: string,
  token: string,
  answer: ((offer: Offer) => Description) | null,
): Promise<Signaling> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${signalingPath}`, [
    signalingSubprotocol,
    `bearer.${token}`,
  ]);
  const waiting = new Map<string, { resolve: (data: unknown) => void; reject: (error: Error) => void }>();
  let asked = 0;

  const signaling: Signaling = {
    send: (type, fields) => socket.send(JSON.stringify({ type, ...fields })),
    request(type, fields) {
      const id = `c${++asked}`;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no answer to ${type}`)), answerMs);
        const settle = (act: () => void): void => {
          clearTimeout(timer);
          waiting.delete(id);
          act();
        };
        waiting.set(id, {
          resolve: (data) => settle(() => resolve(data)),
          reject: (error) => settle(() => reject(error)),
        });
        signaling.send(type, { id, ...fields });
      });
    },
    close() {
      clearInterval(beat);
      if (socket.readyState === WebSocket.OPEN) signaling.send('leave', {});
      socket.close(1000);
    },
  };

  socket.addEventListener('message', ({ data }) => {
    const frame = JSON.parse(String(data)) as Frame;
    const entry = waiting.get(String(frame['ref'] ?? ''));
    if (frame.type === 'error') entry?.reject(new Error(String(frame['svcCode'] ?? frame['code'])));
    else if (frame.type === 'sub.offer') {
      const offer = frame as unknown as Offer;
      if (answer) signaling.send('sub.answer', { revision: offer.revision, description: answer(offer) });
    } else entry?.resolve(frame['data']);
  });
  socket.addEventListener('close', ({ code, reason }) => {
    clearInterval(beat);
    for (const { reject } of [...waiting.values()]) reject(new Error(reason || `closed ${code}`));
  });
  const beat = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) signaling.send('ping', { t: 0 });
  }, signalingHeartbeatIntervalMs);
  await opened(socket);
  await signaling.request('join', {
    connectionId: crypto.randomUUID(),
    autoSubscribe: answer !== null,
    adaptiveStream: false,
  });
  return signaling;
}

const opened = (socket: WebSocket): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('the socket was refused')));
    socket.addEventListener('close', ({ code, reason }) => reject(new Error(reason || `closed ${code}`)));
  });
