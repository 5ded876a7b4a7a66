import type { Conversation } from '@parley/client/chat';
import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { completed, type Mention, mentionAt } from './mentions.ts';

export interface Draft {
  text: string;
  /** The name that is being typed after an @. */
  mention: Mention | null;
  field: RefObject<HTMLTextAreaElement | null>;
  /** As it was typed. */
  write(next: string, caret: number): void;
  /** Where the caret is. */
  insert(text: string): void;
  complete(name: string): void;
  endMention(): void;
}

/** What is being written; the others hear of it while it is. */
export function useDraft(
  conversation: Conversation | null,
  first: string,
  onDraft: ((text: string) => void) | undefined,
): Draft {
  const [text, setText] = useState(first);
  const [mention, setMention] = useState<Mention | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const wantedCaret = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (wantedCaret.current === null) return;
    field.current?.focus();
    field.current?.setSelectionRange(wantedCaret.current, wantedCaret.current);
    wantedCaret.current = null;
  });

  const write = (next: string, caret: number): void => {
    setText(next);
    onDraft?.(next);
    setMention(mentionAt(next, caret));
    conversation?.setTyping(next !== '');
  };
  /** By us, so the caret has to be put there too. */
  const rewrite = (next: string, caret: number): void => {
    write(next, caret);
    setMention(null);
    wantedCaret.current = caret;
  };
  return {
    text,
    mention,
    field,
    write,
    insert(inserted) {
      const at = field.current?.selectionStart ?? text.length;
      rewrite(text.slice(0, at) + inserted + text.slice(at), at + inserted.length);
    },
    complete(name) {
      if (!mention) return;
      const { text: next, caret } = completed(text, mention, name);
      rewrite(next, caret);
    },
    endMention: () => setMention(null),
  };
}
