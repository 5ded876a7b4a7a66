import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import { type Answer, page } from '../../../core/handlers.ts';

export interface PageOf {
  limit?: number;
  cursor?: string;
}

/** A page of a list that is in no database, by user id. */
export function pageByUser<T extends { userId: string }>(
  cursors: Cursors,
  list: string,
  all: readonly T[],
  { limit = pageSizeDefault, cursor }: PageOf,
): Answer<T[]> {
  const after = cursor === undefined ? '' : String(cursors.read(list, cursor)[0]);
  const rows = all.filter(({ userId }) => userId > after).sort((left, right) => (left.userId < right.userId ? -1 : 1));
  const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.userId]));
  return page(items, nextCursor);
}
