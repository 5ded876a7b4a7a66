import assert from 'node:assert/strict';
import { allRoutes, type ErrorCode, paramNames, type RouteName, type RouteRow, splitAt } from '@parley/contract';
import type { World } from '../../kit/world.ts';

/** A row of the route table, with its path taken apart. */
export interface Route {
  name: RouteName;
  row: RouteRow;
  method: string;
  path: string;
  /** What the path names inside a project, outermost first. */
  things: readonly string[];
  isInProject: boolean;
}

export type Ids = Readonly<Record<string, string>>;

export const table: readonly Route[] = (Object.entries(allRoutes) as [RouteName, RouteRow][]).map(([name, row]) => {
  const { method, path } = splitAt(row);
  const params = paramNames(path);
  const things = params.filter((param) => param !== 'projectId');
  return { name, row, method, path, things, isInProject: things.length < params.length };
});
export const guarded = table.filter(({ row }) => !row.by.includes('none'));

/** What a caller names and no project has: media nodes, characters. */
export const OWNERLESS: ReadonlySet<string> = new Set(['name', 'emoji']);

/** End users are in every project as soon as they are named (USER-4), and chat tokens are not stored (SIGN-8): none is missing. */
export const isAboutAnybody = ({ path }: Route): boolean =>
  path.startsWith('/v1/users/') || path.startsWith('/v1/chat/tokens/');

/** The world's own ids for a route: every one that its path names. */
export function idsOf({ name, things, isInProject }: Route, { ids, idsOfRoute }: World): Ids {
  const all: Ids = { ...ids, ...idsOfRoute[name] };
  const named = [...things, ...(isInProject ? ['projectId'] : [])];
  return Object.fromEntries(
    named.map((param) => {
      const id = all[param];
      assert.ok(id, `no world has a ${param} for ${name}`);
      return [param, id];
    }),
  );
}

/** The same ids, all of them of the right shape and none of them in use. */
export const missingOf = (ids: Ids): Ids =>
  Object.fromEntries(Object.entries(ids).map(([param, id]) => [param, missingLike(param, id)]));

function missingLike(param: string, id: string): string {
  if (param === 'emoji') return '🦆';
  if (id.includes('@')) return 'nobody@example.com';
  const missing = id.replace(/[0-9a-z]{1,4}$/i, (end) => '0'.repeat(end.length));
  assert.notEqual(missing, id);
  return missing;
}

/** Which of a path's objects are foreign: each one alone, and all of them together. */
export const swapsOf = ({ things }: Route): readonly (readonly string[])[] =>
  things.length < 2 ? [things] : [...things.map((thing) => [thing]), things];

export const swapped = (own: Ids, other: Ids, things: readonly string[]): Ids => ({
  ...own,
  ...Object.fromEntries(things.map((thing) => [thing, other[thing] ?? ''])),
});

/** What the row declares for a thing that does not exist: its codes are in the order of its path. */
export function codeOfMissing({ name, row, things }: Route, thing: string): ErrorCode {
  const codes = row.throws?.filter((code) => code.endsWith('_NOT_FOUND')) ?? [];
  const code = codes[things.indexOf(thing)];
  assert.ok(code, `${name} declares nothing for a ${thing} that does not exist`);
  return code;
}
