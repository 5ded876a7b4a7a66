import type { Catalogue } from './catalogue.ts';

/** What the dashboard speaks, by its own name. */
export const languages = { en: 'English', de: 'Deutsch', 'zh-Hans': '简体中文' } as const;
export type Language = keyof typeof languages;
export const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text);

/** English comes with the page; the others when they are wanted. */
const load: Readonly<Record<Exclude<Language, 'en'>, () => Promise<Catalogue>>> = {
  de: async () => (await import('./de/index.ts')).de,
  'zh-Hans': async () => (await import('./zh-hans/index.ts')).zhHans,
};

let language: Language = 'en';
let catalogue: Catalogue | null = null;
let wanted: Language = 'en';
const listeners = new Set<() => void>();

export const currentLanguage = (): Language => language;
/** Null is English. */
export const currentCatalogue = (): Catalogue | null => catalogue;
/** Dates and numbers in English are British: the day before the month, 24 hours. */
export const currentLocale = (): string => (language === 'en' ? 'en-GB' : language);

export function onLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A formatter for the language of the page, made once for each. */
export function perLanguage<T>(make: (locale: string) => T): () => T {
  const made = new Map<string, T>();
  return () => {
    const locale = currentLocale();
    const known = made.get(locale) ?? make(locale);
    made.set(locale, known);
    return known;
  };
}

/** Speaks a language from now on. One that cannot be loaded leaves the page as it is. */
export async function speak(next: Language): Promise<void> {
  wanted = next;
  const loaded = next === 'en' ? null : await load[next]().catch(() => undefined);
  // Another one was chosen while this one was on its way.
  if (loaded === undefined || wanted !== next) return;
  const isChange = next !== language;
  language = next;
  catalogue = loaded;
  document.documentElement.lang = next;
  if (isChange) for (const listener of listeners) listener();
}

/** The first of a browser's languages that the dashboard speaks: `de-AT` is German, `zh-TW` is not Simplified Chinese. */
export function negotiate(tags: readonly string[]): Language {
  for (const tag of tags) {
    const { language: base, script } = likely(tag);
    const found = [`${base}-${script}`, base].find(isLanguage);
    if (found) return found;
  }
  return 'en';
}

function likely(tag: string): { language: string; script?: string } {
  try {
    return new Intl.Locale(tag).maximize();
  } catch {
    return { language: '' };
  }
}
