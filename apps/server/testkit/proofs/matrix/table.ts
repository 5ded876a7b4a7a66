import assert from 'node:assert/strict';
import { allRoutes, type ErrorCode, paramNames, type RouteName, type RouteRow, splitAt } from '@parley/contract';
import type { Named } from '../../kit/world.ts';

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

/**
 * Users are there as soon as they are named (USER-4): said something of, and banned, muted or deleted for though they
 * were never seen (MOD-2), or blocked (MOD-17). Chat tokens are not stored (SIGN-8). Of these none is missing.
 */
const ANYBODY: readonly RegExp[] = [
  /^\S+ \/v1\/users\//,
  /^\S+ \/v1\/chat\/tokens\//,
  /\/(bans|mutes|shadows)\/\{userId\}$/,
  /\/delete-messages$/,
  /\/blocks\/\{blockedId\}$/,
  /^(PUT|PATCH) \/v1\/chat\/users\/\{userId\}$/,
];
const isAnybody = ({ row }: Route, thing: string): boolean =>
  ['userId', 'tokenId', 'blockedId'].includes(thing) && ANYBODY.some((pattern) => pattern.test(row.at));

/** Does something to a user, no matter which, in all of an environment. */
export const isToAnybody = (route: Route): boolean =>
  route.method !== 'GET' && route.things.length > 0 && route.things.every((thing) => isAnybody(route, thing));

/** What is read of a user whom nobody knows: they are in no conversation. */
export const OF_NOBODY: Readonly<Partial<Record<RouteName, string>>> = {
  listUserConversations: '[]',
  listUserInbox: '[]',
  getUserInboxBadge: '{"unreadConversations":0,"unreadMessages":0,"unreadMentions":0}',
};

/** The world's own ids for a route: every one that its path names. */
export function idsOf({ name, things, isInProject }: Route, { ids, idsOfRoute }: Named): Ids {
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
  // Ids of random letters may end in a sign, or in nothing but zeros.
  const missing = id.replace(/[0-9a-z]{1,4}[-_]*$/i, (end) => (/^0+$/.test(end) ? '1' : '0').repeat(end.length));
  assert.notEqual(missing, id);
  return missing;
}

/** Which of a path's objects are foreign: each one alone that can be missing, and all of them together. */
export function swapsOf(route: Route): readonly (readonly string[])[] {
  const { things } = route;
  const single = things.filter((thing) => !isAnybody(route, thing)).map((thing) => [thing]);
  return single.length === 0 || things.length < 2 ? single : [...single, things];
}

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
