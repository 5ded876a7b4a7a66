import { type Static, Type } from 'typebox';
import { Line, Nullable, Timestamp } from '../schema.ts';
import { Message } from './schemas.ts';

export const SearchQuery = Type.Object({
  q: Type.String({ minLength: 1, maxLength: 256 }),
  conversation: Type.Optional(Line(1, 128)),
  senderId: Type.Optional(Line(0, 128)),
  from: Type.Optional(Timestamp),
  to: Type.Optional(Timestamp),
  hasAttachment: Type.Optional(Type.Boolean()),
  sort: Type.Optional(Type.Enum(['best', 'newest'])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  cursor: Type.Optional(Type.String({ maxLength: 256 })),
});
export type SearchQuery = Static<typeof SearchQuery>;

/** A part of a message's text, in UTF-16 code units. */
export const TextRange = Type.Object({
  start: Type.Integer({ minimum: 0 }),
  end: Type.Integer({ minimum: 0 }),
});
export type TextRange = Static<typeof TextRange>;

export const SearchResult = Type.Object({
  message: Message,
  /** Compares results of one search. */
  score: Type.Integer(),
  /** What matched, to highlight: in order, apart, at most 100. */
  ranges: Type.Array(TextRange),
});
export type SearchResult = Static<typeof SearchResult>;

export const SearchPage = Type.Object({
  results: Type.Array(SearchResult),
  /** Null when there is no more; a page may be shorter than `limit` and have one. */
  nextCursor: Nullable(Type.String()),
  /** False while messages from before an upgrade are being indexed, or more are new than a search looks at. */
  complete: Type.Boolean(),
});
export type SearchPage = Static<typeof SearchPage>;
