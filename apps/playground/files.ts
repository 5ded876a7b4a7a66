/** Where the built playground is. */
import { createPageBuild } from '@parley/page-build';

export const playground = createPageBuild('playground', import.meta.dirname, [
  'apps/playground/{index.html,vite.config.ts,build.ts,package.json}',
  'apps/playground/src/**/*',
  'apps/dashboard/src/styles/{fonts,tokens,base,kit}.css',
  'examples/*.ts',
  'packages/{contract,client,media-description,react}/src/**/*.{ts,tsx,css}',
  'packages/page-build/src/*.ts',
  'package-lock.json',
]);
export const builtPlayground = playground.built;
