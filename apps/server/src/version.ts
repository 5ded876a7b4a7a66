import { createRequire } from 'node:module';

/** By require: older Nodes warn of imported JSON. */
const manifest: { version: string } = createRequire(import.meta.url)('../package.json');

export const { version } = manifest;
