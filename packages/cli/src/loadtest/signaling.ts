import {
  type FrameData,
  type SignalingServerFrame,
  type SignalingServerFrames,
  signalingHeartbeatIntervalMs,
  signalingPath,
  signalingSubprotocol,
} from '@parley/contract';
import type { Description } from '@parley/media-description';

/** The answer to a request. */
interface ResponseFrame {
  type: 'response';
  ref: string;
  data?: unknown;
}

/** A participant's signaling connection, as a client of any language would have it. */
export interface Signaling {
  request(type: string, fields: object): Promise<unknown>;
  send(type: string, fields: object): void;
  close(): void;
}

const answerMs = 15_000;

export type Offer = FrameData<SignalingServerFrames['sub.offer']>;

interface JoinOptions {
  /** Subscribes, and answers each offer with what this gives. */
  answer?: (offer: Offer) => Description;
  /** Every frame of the server. */
  hear?: (frame: SignalingServerFrame | ResponseFrame) => void;
}

/** Joins the room of the token; rejects with the code that refused it. */
export async function join(url: string, token: string, { answer, hear }: JoinOptions = {}): Promise<Signaling> {
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
    const frame = JSON.parse(String(data)) as SignalingServerFrame | ResponseFrame;
    hear?.(frame);
    if (frame.type === 'error') waiting.get(frame.ref ?? '')?.reject(new Error(frame.svcCode));
    else if (frame.type === 'response') waiting.get(frame.ref)?.resolve(frame.data);
    else if (frame.type === 'sub.offer' && answer)
      signaling.send('sub.answer', { revision: frame.revision, description: answer(frame) });
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
    autoSubscribe: answer !== undefined,
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
