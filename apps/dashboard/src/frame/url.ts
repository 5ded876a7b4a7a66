import type { Environment } from '@parley/contract';
import { useLocation, useSearch } from 'wouter';

/** One filter, held in the address: shared by a link, kept by the back button. */
export function useFilter(name: string): [value: string, set: (value: string) => void] {
  const search = useSearch();
  const [, navigate] = useLocation();
  return [
    new URLSearchParams(search).get(name) ?? '',
    (value) => {
      // From the address as it is now: several filters may be set in one go.
      const next = new URLSearchParams(location.search);
      if (value === '') next.delete(name);
      else next.set(name, value);
      navigate(next.size === 0 ? location.pathname : `${location.pathname}?${next}`, { replace: true });
    },
  ];
}

/** What empties the filters of a list, while any is set. */
export const clearing = (filter: object, ...sets: ((value: string) => void)[]): (() => void) | undefined =>
  Object.keys(filter).length === 0
    ? undefined
    : () => {
        for (const set of sets) set('');
      };

export const environmentOf = (text: string | null): Environment =>
  text === 'production' ? 'PRODUCTION' : 'DEVELOPMENT';

export function useEnvironment(): Environment {
  return useNamedEnvironment() ?? environmentOf(null);
}

/** The environment that the address names, if it does. */
export function useNamedEnvironment(): Environment | null {
  const text = new URLSearchParams(useSearch()).get('env');
  return text === null ? null : environmentOf(text);
}

/** This address with an environment: what a page shows is of one of them. */
export function useNamedAddress(environment: Environment): string {
  const search = new URLSearchParams(useSearch());
  const [path] = useLocation();
  search.set('env', environment.toLowerCase());
  return `${path}?${search}${location.hash}`;
}

/** A page of a project, in an environment. */
export function projectPath(
  projectId: string,
  page: string,
  environment: Environment,
  filters: Readonly<Record<string, string>> = {},
): string {
  const search = new URLSearchParams({ env: environment.toLowerCase(), ...filters });
  return `/p/${projectId}/${page}?${search}`;
}

/** Only a path of our own may be gone to after signing in. */
export const safeNext = (text: string | null): string => (text !== null && /^\/(?![/\\])/.test(text) ? text : '/');
