import { Fragment, type ReactNode, useSyncExternalStore } from 'react';
import { currentLanguage, onLanguage } from './language.ts';

/** Another language draws everything anew: texts are asked for while drawing. */
export function Speaking({ children }: { children: ReactNode }) {
  return <Fragment key={useSyncExternalStore(onLanguage, currentLanguage)}>{children}</Fragment>;
}
