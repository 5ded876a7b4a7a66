/** Where the built dashboard is. */
import { fileURLToPath } from 'node:url';
import { createPageBuild } from '@parley/page-build';

export const dashboard = createPageBuild('dashboard', import.meta.dirname, [
  'apps/dashboard/{index.html,vite.config.ts,build.ts,package.json}',
  'apps/dashboard/{src,public}/**/*',
  'packages/{contract,server-sdk,client,media-description,react}/src/**/*.{ts,tsx,css}',
  'packages/page-build/src/*.ts',
  'package-lock.json',
]);
export const builtDashboard = dashboard.built;
/** The folder a build of the present sources has. */
export const dashboardFolder = dashboard.folder;

/** The fonts of the dashboard, for pages of the server that want to look like it. */
export const fontFiles = {
  'inter.woff2': fileURLToPath(import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2')),
  'mono.woff2': fileURLToPath(
    import.meta.resolve('@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'),
  ),
};
