/** The gate: format, lint, types, borders, rules, decisions, traces, generated files. `npm run check`. */
import { spawnSync } from 'node:child_process';
import { styleText } from 'node:util';

const steps: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['types', 'tsc', '-p', '.'],
  ['imports', 'node', 'tools/check-imports.ts'],
  ['tables', 'node', 'tools/check-tables.ts'],
  ['OpenAPI', 'node', 'tools/check-openapi.ts'],
  ['migrations', 'node', 'tools/check-migrations.ts'],
  ['rules and tests', 'node', 'tools/check-rules.ts'],
  ['decisions', 'node', 'tools/check-adrs.ts'],
  ['traces', 'node', 'tools/check-traces.ts'],
  ['dependencies', 'node', 'tools/check-dependencies.ts'],
  ['alerts and metrics', 'node', 'tools/check-alerts.ts'],
  ['generated files', 'node', 'tools/generate.ts', '--check'],
];

const failed = steps.filter(([name, command, ...args]) => {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  const isGood = status === 0;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${isGood ? styleText('green', 'ok  ') : styleText('red', 'FAIL')} ${name} (${seconds} s)`);
  if (!isGood) console.log(`${stdout}${stderr}`.trimEnd());
  else if (args[0]?.startsWith('tools/check-')) console.log(`     ${stdout.trim()}`);
  return !isGood;
});
process.exit(failed.length === 0 ? 0 : 1);
