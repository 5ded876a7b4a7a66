/** Writes what derives from the contract's tables and from the benchmarks' results; `--check` only says whether the files are fresh. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { allRoutes, openApiOf, splitAt } from '@parley/contract';
import { reportFiles } from '../bench/report.ts';
import { contractTypesFile } from './contract-types.ts';
import { errorPages, generatedGuides, guidesWithExamples, llmsText } from './guide-pages.ts';
import { apiReports } from './packages/api-report.ts';
import {
  closeCodesPage,
  errorsPage,
  eventsPage,
  limitsPage,
  permissionsPage,
  routesPage,
  settingsPage,
} from './reference-pages.ts';
import { methodsFile } from './sdk-methods.ts';

const outputs: Readonly<Record<string, () => string>> = {
  'docs/reference/routes.md': routesPage,
  'docs/reference/errors.md': errorsPage,
  'docs/reference/limits.md': limitsPage,
  'docs/reference/settings.md': settingsPage,
  'docs/reference/events.md': eventsPage,
  'docs/reference/permissions.md': permissionsPage,
  'docs/reference/close-codes.md': closeCodesPage,
  'docs/reference/openapi.json': () => `${JSON.stringify(openApiOf(allRoutes), null, 1)}\n`,
  'packages/contract/src/types.gen.ts': contractTypesFile,
  'packages/server-sdk/src/routes.gen.ts': routeAddresses,
  'packages/server-sdk/src/methods.gen.ts': methodsFile,
  // After the types that they show.
  ...apiReports(),
  ...generatedGuides,
  ...errorPages(),
  ...guidesWithExamples(),
  // After the guides: one of them is made of the benchmarks' results.
  ...reportFiles(),
  'docs/llms.txt': llmsText,
};

/** Where each route is, without its schemas: all that a bundle needs at run time. */
function routeAddresses(): string {
  const rows = Object.entries(allRoutes).map(
    ([name, row]) => `  ${name}: '${splitAt(row).method} ${splitAt(row).path}',`,
  );
  return `// Generated from packages/contract by tools/generate.ts. Do not edit.\n\nexport const routeAddresses = {\n${rows.join('\n')}\n} as const;\n`;
}

const isCheck = process.argv.includes('--check');
const stale = Object.entries(outputs).filter(([path, make]) => {
  const text = make();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  if (!isCheck) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return true;
});
for (const [path] of stale) console.log(isCheck ? `${path} is not fresh: run npm run generate` : `wrote ${path}`);
process.exit(isCheck && stale.length > 0 ? 1 : 0);
