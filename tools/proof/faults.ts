/**
 * What happens when something fails: three server processes with a PostgreSQL and a Redis of their own, under load, and
 * one fault after the other. Each must keep the invariants of the failure policy.
 *
 *   node tools/proof/faults.ts [scenario…] [--redis cluster] [--scale 0.3] [--seed 1]
 *
 * With `--redis cluster` all of them have a Redis Cluster of three masters, each with a replica. Needs the programs of PostgreSQL and Redis; those that run on this machine are not touched.
 */
import { parseArgs } from 'node:util';
import { backMs } from './faults/invariants.ts';
import type { Answer, Observation } from './faults/observation.ts';
import type { Scenario } from './faults/scenario.ts';
import { scenarios } from './faults/scenarios.ts';
import { observe } from './faults/scene.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    redis: { type: 'string', default: 'one' },
  },
});
const kinds = ['one', 'cluster'] as const;
const redis = kinds.find((kind) => kind === values.redis);
if (!redis) throw new Error(`--redis is one of ${kinds.join(', ')}`);
const size = { scale: Number(values.scale), seed: Number(values.seed) };
const log = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`);

for (const name of positionals.length > 0 ? positionals : Object.keys(scenarios)) {
  const scenario = scenarios[name];
  if (!scenario) throw new Error(`no such scenario: ${name}`);
  log(`${name}: ${scenario.title}`);
  const prepared = scenario.prepare?.();
  try {
    const options = { redis, ...scenario.options, ...prepared?.options, log };
    const seen = await observe(options, (scene) => scenario.harm(scene, size));
    if (!report(scenario, seen)) process.exitCode = 1;
  } catch (error) {
    log(`  FAILS  ${error instanceof Error ? error.stack : error}`);
    process.exitCode = 1;
  } finally {
    prepared?.clear();
  }
}
// The native peers of the calls would keep the process.
process.exit();

/** Prints the measurements and the outcome of each invariant; returns whether all are as expected. */
function report({ invariants, isBroken = false }: Scenario, seen: Observation): boolean {
  log(JSON.stringify(figures(seen)));
  log(`  answers while it lasted: ${counted(seen)}`);
  let isRight = true;
  for (const [name, check] of Object.entries(invariants)) {
    const faults = check(seen);
    log(`  ${faults.length === 0 ? 'holds' : 'FAILS'}  ${name}${isBroken ? ' (must fail)' : ''}`);
    for (const fault of faults) log(`           ${fault}`);
    isRight &&= faults.length > 0 === isBroken;
  }
  return isRight;
}

function figures(seen: Observation): Record<string, unknown> {
  const { log: entries, history, fault, webhooks, facts, completeMs, closedSockets } = seen;
  const acknowledged = entries.filter(({ is }) => is === 'ok').length;
  return {
    acknowledged,
    stored: history.length,
    lastedMs: Math.round(fault.to - fault.from),
    backMs: Math.round(backMs(seen, ['send', 'read', 'mint', 'join'])),
    completeMs: Math.round(completeMs),
    closedSockets: closedSockets.length,
    webhooks,
    ...facts,
  };
}

/** How often each answer was given, and the slowest of it. */
function counted({ answers, fault }: Observation): string {
  const during = answers.filter(({ at, ms }) => at + ms >= fault.from && at <= fault.to);
  const kinds = Map.groupBy(during, ({ kind, status, code }: Answer) => `${kind} ${status}${code ? ` ${code}` : ''}`);
  return [...kinds]
    .map(([what, ones]) => `${what} ×${ones.length} ≤${Math.round(Math.max(...ones.map(({ ms }) => ms)))} ms`)
    .sort()
    .join(', ');
}
