import type { allEnglish } from './en/all.ts';
import type { en } from './en/index.ts';

/** A text by number; which forms there are is the language's own matter. */
export type Plural = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string };
export type Entry = string | Plural;

/** English is the source: a key that it lacks does not compile. */
export type Key = keyof typeof allEnglish;
/** Keys of the texts that every page has. */
export type FirstKey = keyof typeof en;
/** Every English text in another language: one that is missing does not compile. */
export type Catalogue = Translated<typeof allEnglish>;
export type Translated<Area> = { readonly [K in keyof Area]: Area[K] extends string ? string : Plural };

type TextOf<K extends Key> = (typeof allEnglish)[K] extends { readonly other: infer Text }
  ? Text
  : (typeof allEnglish)[K];
type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type PlaceOf<K extends Key> = NamesIn<TextOf<K>>;

/** Keys of texts that stand by themselves: what a table of words holds. */
export type PlainKey<Of extends Key = FirstKey> = { [K in Of]: [PlaceOf<K>] extends [never] ? K : never }[Of];

/** What the text of a key wants to be told; nothing where it has no `{place}`. A number chooses its form by `count`. */
export type Values<K extends Key, Value> = [PlaceOf<K>] extends [never]
  ? []
  : [values: { readonly [Name in PlaceOf<K>]: Name extends 'count' ? number : Value }];
