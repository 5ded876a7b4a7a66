import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { callTexts } from './call/texts.ts';
import { chatTexts } from './chat/texts.ts';
import { sharedTexts } from './shared/texts.ts';
import { streamTexts } from './stream/texts.ts';

/** Everything that the components say. */
const english = { ...sharedTexts, ...callTexts, ...chatTexts, ...streamTexts };
export type Texts = typeof english;

const TextsContext = createContext<Texts>(english);

export const useTexts = (): Texts => useContext(TextsContext);

/** Replaces texts for what is inside: another language, or other words for a few of them. */
export function ParleyTexts({ value, children }: { value: Partial<Texts>; children: ReactNode }) {
  const outer = useTexts();
  const texts = useMemo(() => ({ ...outer, ...value, errors: { ...outer.errors, ...value.errors } }), [outer, value]);
  return <TextsContext.Provider value={texts}>{children}</TextsContext.Provider>;
}
