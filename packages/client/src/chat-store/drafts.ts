import type { DraftStorage } from './types.ts';

export interface Drafts {
  get(ref: string): string;
  set(ref: string, text: string): void;
  /** Known once connected: what was written before is kept from now on. */
  setUser(userId: string): void;
}

/** Kept by user: on a shared machine nobody reads what another one was about to say. */
export function createDrafts(storage: DraftStorage | null, onChange: () => void): Drafts {
  const texts = new Map<string, string>();
  let user: string | null = null;
  const keyOf = (ref: string): string => `parley-draft:${user}:${ref}`;

  function keep(ref: string, text: string): void {
    if (user === null) return;
    try {
      if (text === '') storage?.removeItem(keyOf(ref));
      else storage?.setItem(keyOf(ref), text);
    } catch {
      // Full or forbidden: memory has it.
    }
  }

  function kept(ref: string): string {
    if (user === null) return '';
    try {
      return storage?.getItem(keyOf(ref)) ?? '';
    } catch {
      return '';
    }
  }

  return {
    get: (ref) => texts.get(ref) ?? kept(ref),
    set(ref, text) {
      texts.set(ref, text);
      keep(ref, text);
      onChange();
    },
    setUser(userId) {
      if (user === userId) return;
      user = userId;
      for (const [ref, text] of texts) keep(ref, text);
      onChange();
    },
  };
}

/** A page may be forbidden to touch it. */
export function pageStorage(): DraftStorage | null {
  try {
    return (globalThis as { localStorage?: DraftStorage }).localStorage ?? null;
  } catch {
    return null;
  }
}
