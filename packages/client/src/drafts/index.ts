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
  /** The largest revision that was told of, also of what is gone: answers and frames may come in either order. */
  const latest = new Map<string, number>();
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
    state.invalidate();
    if (draft === null) stored.delete(conversationId);
    else {
      if (draft.revision <= (latest.get(conversationId) ?? 0)) return;
      latest.set(conversationId, draft.revision);
      stored.set(conversationId, draft);
    }
    heard?.set(conversationId, draft);
  }

  /** After each connection: frames are not repeated. */
  async function read(isCurrent: () => boolean): Promise<void> {
    const newer = new Map<string, MessageDraft | null>();
    heard = newer;
    const all = await readAll<MessageDraft>(http, '/v1/chat/drafts');
    if (!isCurrent()) return;
    heard = null;
    error = null;
    stored = new Map();
    for (const draft of all) {
      const { conversationId: id, revision } = draft;
      stored.set(id, draft);
      latest.set(id, Math.max(revision, latest.get(id) ?? 0));
    }
    for (const [id, draft] of newer) {
      if (draft === null) stored.delete(id);
      else if (draft.revision > (stored.get(id)?.revision ?? 0)) stored.set(id, draft);
    }
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
    const known = latest.get(id);
    try {
      const path = `${pathOf(id)}/draft`;
      const draft = text === '' ? await http.call('DELETE', path) : await http.call('PUT', path, { body: { text } });
      if (waiting.get(id) === text) waiting.delete(id);
      error = null;
      if (text !== '') put(id, draft as MessageDraft);
      // One that was told of meanwhile may be of after the removal: the frames say which is the last.
      else if (latest.get(id) === known) put(id, null);
      state.invalidate();
    } catch (cause) {
      if (!SvcError.is(cause)) throw cause;
      // Not to be had there any more; anything else is tried again with the next connection.
      if (!cause.retryable && waiting.get(id) === text) waiting.delete(id);
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
