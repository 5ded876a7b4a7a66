import type { MessageDraft } from '@parley/contract/types.gen';
import type { Chat } from '../chat/index.ts';
import { createPart, type PartFrame, readAll } from '../chat/part.ts';
import { SvcError } from '../errors.ts';
import { pathOf } from '../http.ts';
import { createDerivedStore, type Store } from '../store.ts';

export type { MessageDraft } from '@parley/contract/types.gen';
export type { Store } from '../store.ts';

export interface DraftsState {
  /** What was begun, by conversation id: on this device or another. */
  readonly texts: ReadonlyMap<string, string>;
  /** Written here and not stored yet. */
  readonly isSaving: boolean;
  readonly error: SvcError | null;
}

export interface DraftsOptions {
  /** How long a text rests before it is stored. Default 500 ms. */
  delayMs?: number;
}

/** What the user has begun to write, on all of their devices. */
export interface Drafts {
  /** Fits React's `useSyncExternalStore`. */
  readonly state: Store<DraftsState>;
  /** Call it with every key press; an empty text removes the draft. */
  set(conversationId: string, text: string): void;
  /** Stores at once what waits. */
  flush(): Promise<void>;
  close(): void;
}

export function createDrafts(chat: Chat, { delayMs = 500 }: DraftsOptions = {}): Drafts {
  let error: SvcError | null = null;
  const part = createPart(chat, fail);
  const { http } = part;
  /** As the server has them. */
  let stored = new Map<string, MessageDraft>();
  /** Written here: shown instead, until the server has it. */
  const waiting = new Map<string, string>();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const saving = new Map<string, Promise<void>>();
  /** Told of while the list was on its way: newer than the list. */
  let heard: Map<string, MessageDraft | null> | null = null;

  const state = createDerivedStore<DraftsState>(() => {
    const texts = new Map([...stored].map(([id, { text }]) => [id, text]));
    for (const [id, text] of waiting) {
      if (text === '') texts.delete(id);
      else texts.set(id, text);
    }
    return { texts, isSaving: waiting.size > 0, error };
  });

  function fail(cause: SvcError): void {
    error = cause;
    state.invalidate();
  }

  function put(conversationId: string, draft: MessageDraft | null): void {
    heard?.set(conversationId, draft);
    if (draft === null) stored.delete(conversationId);
    // The answer to a write of ours and the frame of a later one may come in either order.
    else if ((stored.get(conversationId)?.revision ?? 0) <= draft.revision) stored.set(conversationId, draft);
    state.invalidate();
  }

  /** After each connection: frames are not repeated. */
  async function read(): Promise<void> {
    heard = new Map();
    const all = await readAll<MessageDraft>(http, '/v1/chat/drafts');
    stored = new Map(all.map((draft) => [draft.conversationId, draft]));
    const newer = heard;
    heard = null;
    error = null;
    for (const [id, draft] of newer) put(id, draft);
    state.invalidate();
    for (const id of waiting.keys()) void save(id);
  }

  /** One write of a conversation at a time: the last one is the last at the server, too. */
  function save(id: string): Promise<void> {
    clearTimeout(timers.get(id));
    const running = saving.get(id);
    if (running) return running.then(() => (waiting.has(id) ? save(id) : undefined));
    const work = write(id).finally(() => saving.delete(id));
    saving.set(id, work);
    return work;
  }

  async function write(id: string): Promise<void> {
    const text = waiting.get(id);
    if (text === undefined) return;
    try {
      const path = `${pathOf(id)}/draft`;
      const draft = text === '' ? await http.call('DELETE', path) : await http.call('PUT', path, { body: { text } });
      if (waiting.get(id) === text) waiting.delete(id);
      error = null;
      put(id, text === '' ? null : (draft as MessageDraft));
    } catch (cause) {
      if (!SvcError.is(cause)) throw cause;
      // Not to be had there any more; anything else is tried again with the next connection.
      if (!cause.retryable) waiting.delete(id);
      fail(cause);
    }
  }

  function hear(frame: PartFrame): void {
    if (frame.type === 'draft.updated') put(frame.conversationId, frame.draft);
  }

  part.onFrame(hear);
  part.onConnected(read);
  return {
    state,
    set(id, text) {
      if ((waiting.get(id) ?? stored.get(id)?.text ?? '') === text) return;
      waiting.set(id, text);
      state.invalidate();
      clearTimeout(timers.get(id));
      timers.set(
        id,
        setTimeout(() => void save(id), delayMs),
      );
    },
    flush: async () => void (await Promise.all([...waiting.keys()].map(save))),
    close() {
      part.close();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
