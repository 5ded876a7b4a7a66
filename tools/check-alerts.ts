/**
 * The alert rules by Prometheus's own tool: their syntax, that each fires when it should (`deploy/alerts-test.yaml`),
 * and the metrics of a server and a media node that have just started. `promtool` is in Debian's package `prometheus`; CI has
 * it, and sets PARLEY_REQUIRE_PROMTOOL.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { createMetrics } from '../apps/server/src/core/metrics.ts';
import { renderMetrics } from '../apps/sfu/src/metrics.ts';
import { finishCheck } from './repository-files.ts';

const rulesPath = 'deploy/prometheus/alerts.yaml';
const testsPath = 'tools/deploy/alerts-test.yaml';

interface Rules {
  groups: { rules: { alert: string }[] }[];
}
interface RuleTests {
  tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
}

const rules: Rules = parse(readFileSync(rulesPath, 'utf8'));
const { tests }: RuleTests = parse(readFileSync(testsPath, 'utf8'));
const alerts = rules.groups.flatMap((group) => group.rules.map(({ alert }) => alert));
const fired = new Set(
  tests.flatMap((one) => one.alert_rule_test.filter((test) => test.exp_alerts?.length).map((test) => test.alertname)),
);

const runs: readonly [args: string[], input?: string][] = [
  [['check', 'rules', rulesPath]],
  [['test', 'rules', testsPath]],
  [['check', 'metrics'], createMetrics().render()],
  [['check', 'metrics'], renderMetrics([{ load: undefined }])],
];
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

const problems = alerts
  .filter((alert) => !fired.has(alert))
  .map((alert) => `${testsPath}: nothing shows ${alert} firing`);
if (alerts.length < 5) problems.push(`saw only ${alerts.length} alerts: the check is broken`);
if (!hasPromtool && process.env['PARLEY_REQUIRE_PROMTOOL']) problems.push('there is no promtool, and it is required');
for (const [args, input = ''] of hasPromtool ? runs : []) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input });
  if (status !== 0) problems.push(`promtool ${args.join(' ')}:\n${stdout}${stderr}`.trimEnd());
}
const by = hasPromtool ? 'run by promtool' : 'NOT run: there is no promtool here (Debian: apt-get install prometheus)';
finishCheck(problems, `${alerts.length} alerts, ${tests.length} tests, ${by}`);
