/** The gate: format, lint, types, borders, rules, decisions, traces, generated files. `npm run check`. */
import { execFile } from 'node:child_process';
import { styleText } from 'node:util';

type Step = readonly [name: string, command: string, ...args: string[]];

/** Takes as long as all the others, which run beside it, one after the other; what was checked before is not checked again. */
const types: Step = [
  'types',
  'tsc',
  '-p',
  '.',
  // Each finds out for itself what all of them need.
  '--checkers',
  '2',
  '--incremental',
  '--tsBuildInfoFile',
  'node_modules/.cache/types.tsbuildinfo',
];
const others: readonly Step[] = [
  ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['imports', 'node', 'tools/check-imports.ts'],
  ['tables', 'node', 'tools/check-tables.ts'],
  ['OpenAPI', 'node', 'tools/check-openapi.ts'],
  ['migrations', 'node', 'tools/check-migrations.ts'],
  ['rules and tests', 'node', 'tools/check-rules.ts'],
  ['decisions', 'node', 'tools/check-adrs.ts'],
  ['traces', 'node', 'tools/check-traces.ts'],
  ['words', 'node', 'tools/check-words.ts'],
  ['dependencies', 'node', 'tools/check-dependencies.ts'],
  ['alerts and metrics', 'node', 'tools/check-alerts.ts'],
  ['texts of the dashboard', 'node', 'tools/check-texts.ts'],
  ['generated files', 'node', 'tools/generate.ts', '--check'],
];

const outputBytesMax = 64 * 1024 * 1024;

function passes([name, command, ...args]: Step): Promise<boolean> {
  const started = performance.now();
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: outputBytesMax }, (failure, stdout, stderr) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      console.log(`${failure ? styleText('red', 'FAIL') : styleText('green', 'ok  ')} ${name} (${seconds} s)`);
      if (failure) console.log(`${stdout}${stderr}`.trimEnd() || failure.message);
      else if (args[0]?.startsWith('tools/check-')) console.log(`     ${stdout.trim()}`);
      resolve(failure === null);
    });
  });
}

async function pass(some: readonly Step[]): Promise<boolean> {
  let isGood = true;
  for (const step of some) isGood = (await passes(step)) && isGood;
  return isGood;
}

const results = await Promise.all([passes(types), pass(others)]);
process.exit(results.every(Boolean) ? 0 : 1);
