import { hostname } from 'node:os';

/** The name of a node that was given none: its machine's, in the letters that a name may have. */
export const defaultNodeName = (): string =>
  hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 128) || 'sfu';
