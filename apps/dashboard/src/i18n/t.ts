import { createElement, Fragment, type ReactNode } from 'react';
import type { Catalogue, Entry, FirstKey, Key, Values } from './catalogue.ts';
import { en } from './en/index.ts';
import { currentCatalogue, currentLocale, perLanguage } from './language.ts';

const number = perLanguage((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }));
const rules = perLanguage((locale) => new Intl.PluralRules(locale));

/** Those of the first load, and those of the pages that were opened. */
const english: Partial<Catalogue> = { ...en };

type Say<Known extends Key> = <K extends Known>(key: K, ...given: Values<K, string | number>) => string;
type SayWithNodes<Known extends Key> = <K extends Known>(key: K, ...given: Values<K, ReactNode>) => ReactNode;

/** A text of the catalogue in the language of the page. Numbers are written as the language writes them. */
export const t: Say<FirstKey> = say;
/** The same where a place is taken by an element, such as a link. */
export const withNodes: SayWithNodes<FirstKey> = sayWithNodes;

/** Both for a folder of pages whose English comes with them and not with the first load. */
export function textsOfPages<Own extends Key>(
  area: Readonly<Record<Own, Entry>>,
): { t: Say<FirstKey | Own>; withNodes: SayWithNodes<FirstKey | Own> } {
  Object.assign(english, area);
  return { t: say, withNodes: sayWithNodes };
}

function say(key: Key, values: Readonly<Record<string, string | number>> = {}): string {
  return templateOf(key, values).replace(/\{(\w+)\}/g, (_, name: string) => written(values[name]));
}

function sayWithNodes(key: Key, values: Readonly<Record<string, ReactNode>> = {}): ReactNode {
  return templateOf(key, values)
    .split(/\{(\w+)\}/)
    .map((part, index) => {
      const value = index % 2 === 0 ? part : values[part];
      return createElement(Fragment, { key: index }, typeof value === 'number' ? written(value) : value);
    });
}

/** `a, b and c`, as the language joins them. */
export const listOf = (words: readonly string[]): string =>
  new Intl.ListFormat(currentLocale(), { style: 'narrow', type: 'unit' }).format(words);

function templateOf(key: Key, values: Readonly<Record<string, unknown>>): string {
  const entry: Entry = (currentCatalogue() ?? english)[key] ?? key;
  if (typeof entry === 'string') return entry;
  return entry[rules().select(Number(values['count']))] ?? entry.other;
}

const written = (value: string | number | undefined): string =>
  typeof value === 'number' ? number().format(value) : (value ?? '');
