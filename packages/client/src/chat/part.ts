import { SvcError } from '../errors.ts';
import type { Chat } from './index.ts';
import type { PartEvents, PartFrame, PartPort } from './part-port.ts';

/** What a part of chat is made with: requests, frames that others pass over, and the beginning of each connection. */
export interface Part {
  readonly http: PartPort[0];
  onFrame(listener: (...frame: PartEvents['inbox']) => void): void;
  /** Now, if there is a connection, and with each later one: what an earlier one began is then no longer current. */
  onConnected(work: (isCurrent: () => boolean) => Promise<void>): void;
  readonly isClosed: boolean;
  close(): void;
}

export function createPart(chat: Chat, onError: (error: SvcError) => void): Part {
  const [http, , events] = chat['inbox'] as PartPort;
  const stops: (() => void)[] = [];
  let isClosed = false;
  return {
    http,
    onFrame: (listener) => void stops.push(events.on('inbox', listener)),
    onConnected(work) {
      let runs = 0;
      const run = (): void => {
        const mine = ++runs;
        const isCurrent = (): boolean => mine === runs && !isClosed;
        void work(isCurrent).catch((error) => {
          if (!SvcError.is(error)) throw error;
          if (isCurrent()) onError(error);
        });
      };
      stops.push(chat.on('connectionStateChanged', (state) => state === 'connected' && run()));
      if (chat.state.getSnapshot().connection === 'connected') run();
    },
    get isClosed() {
      return isClosed;
    },
    close() {
      isClosed = true;
      for (const stop of stops) stop();
    },
  };
}

/** All items of a list, page by page. */
export async function readAll<T>(http: PartPort[0], path: string): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: readonly T[]; nextCursor: string | null } = await http.page<T>(path, {
      limit: 200,
      ...(cursor === null ? {} : { cursor }),
    });
    all.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
}

export type { PartFrame };
