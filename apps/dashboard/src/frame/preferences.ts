import type { Environment } from '@parley/contract';
import { useSyncExternalStore } from 'react';
import { isLanguage, type Language, negotiate, speak } from '../i18n/language.ts';

/** What a person chose for this browser. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  density: 'comfortable' | 'dense';
  timeZone: 'local' | 'utc';
  shortcuts: 'on' | 'off';
  language: 'browser' | Language;
  /** The project that `/` opens. */
  lastProject: string | null;
  /** The environment it opens it in. */
  lastEnvironment: Environment;
}

const storageKey = 'parley.preferences';
const defaults: Preferences = {
  theme: 'system',
  density: 'comfortable',
  timeZone: 'local',
  shortcuts: 'on',
  language: 'browser',
  lastProject: null,
  lastEnvironment: 'DEVELOPMENT',
};

function read(): Preferences {
  try {
    // Written by us alone; a value we do not know falls back in the places that read it.
    return { ...defaults, ...(JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Partial<Preferences>) };
  } catch {
    return defaults;
  }
}

let current = read();
const listeners = new Set<() => void>();

export const browserLanguage = (): Language => negotiate(navigator.languages);

/** Speaks what was chosen; the first time the page waits for it, so that it is not drawn twice. */
export const speakChosen = (): Promise<void> =>
  speak(isLanguage(current.language) ? current.language : browserLanguage());

function show({ theme, density }: Preferences): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
  if (density === 'dense') dataset['density'] = density;
  else delete dataset['density'];
}

function change(next: Preferences): void {
  current = next;
  show(next);
  void speakChosen();
  for (const listener of listeners) listener();
}

// The system turned dark or light while the page was open.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => change({ ...current }));

// Another tab changed them.
addEventListener('storage', ({ key }) => {
  if (key === storageKey) change(read());
});

export function setPreference<K extends keyof Preferences>(name: K, value: Preferences[K]): void {
  change({ ...current, [name]: value });
  try {
    localStorage.setItem(storageKey, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing still works, for this visit.
  }
}

export const preferences = (): Preferences => current;

export const usePreferences = (): Preferences =>
  useSyncExternalStore((onChange) => {
    listeners.add(onChange);
    return () => listeners.delete(onChange);
  }, preferences);

/** Whether the page is dark now, by preference or by system. */
export const isDark = ({ theme }: Preferences): boolean =>
  theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
