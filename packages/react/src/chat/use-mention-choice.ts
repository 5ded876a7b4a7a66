import { type KeyboardEvent, useEffect, useState } from 'react';
import { choicesFor } from './mentions.ts';
import type { Draft } from './use-draft.ts';

export interface MentionChoice {
  names: readonly string[];
  chosen: number;
  /** Whether the key was meant for the list. */
  take(event: KeyboardEvent): boolean;
}

/** Whom the typed @ may mean, and which of them is chosen by arrow keys. */
export function useMentionChoice({ mention, complete, endMention }: Draft, known: readonly string[]): MentionChoice {
  const [chosen, setChosen] = useState(0);
  const names = mention ? choicesFor(mention, known) : [];
  // biome-ignore lint/correctness/useExhaustiveDependencies: another mention begins at its first name.
  useEffect(() => setChosen(0), [mention?.start, mention?.query]);
  const take = ({ key }: KeyboardEvent): boolean => {
    if (names.length === 0) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step) setChosen((chosen + step + names.length) % names.length);
    else if (key === 'Enter' || key === 'Tab') complete(names[chosen] ?? '');
    else if (key === 'Escape') endMention();
    else return false;
    return true;
  };
  return { names, chosen, take };
}
