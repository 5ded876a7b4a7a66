import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { renderMetrics } from '@parley/sfu/metrics';
import { parse } from 'yaml';
import type { TestService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';
import { createMetrics } from '../core/metrics.ts';

interface Dashboard {
  title: string;
  panels: { id: number; title: string; gridPos: Record<string, number>; targets: { expr: string }[] }[];
}
interface Alerts {
  groups: {
    name: string;
    rules: { alert: string; expr: string; for: string; annotations: Record<string, string> }[];
  }[];
}

const read = (path: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../../../../deploy/${path}`, import.meta.url)), 'utf8');

let service: TestService;
before(async () => {
  service = await sharedService();
});

/** The names in /metrics of servers and media nodes, whatever has happened yet. */
async function exposedNames(): Promise<Set<string>> {
  const text = (await (await service.fetch('/metrics')).text()) + renderMetrics([{ load: undefined }]);
  return new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name));
}

const namesIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:parley|process)_\w+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));

test('[OBS-14] the Grafana dashboard and the alert rules name only metrics that /metrics exposes, and all of media are shown', async () => {
  const dashboard = JSON.parse(await read('grafana/parley.json')) as Dashboard;
  const { groups }: Alerts = parse(await read('prometheus/alerts.yaml'));
  const rules = groups.flatMap((group) => group.rules);
  assert.ok(dashboard.panels.length >= 10 && rules.length >= 5);
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
  assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  for (const rule of rules) {
    assert.match(rule.for, /^\d+m$/, rule.alert);
    assert.ok(rule.annotations['summary'] && rule.annotations['action'], `${rule.alert} says what to do`);
  }

  const exposed = await exposedNames();
  const expressions = [
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ];
  for (const [where, expression] of expressions) {
    const names = namesIn(expression);
    if (!expression.startsWith('up{')) assert.ok(names.length > 0, `${where} asks for nothing of ours`);
    for (const name of names) assert.ok(exposed.has(name), `${where} asks for ${name}, which is not exposed`);
    assert.equal(expression.split('(').length, expression.split(')').length, `${where} closes its brackets`);
  }
  const shown = new Set(dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr))));
  const ofMedia = [...exposed].filter((name) => name.startsWith('parley_media_'));
  assert.ok(ofMedia.length > 15);
  for (const name of ofMedia) assert.ok(shown.has(name), `no panel shows ${name}`);
});

test('[OBS-19] a server that has done nothing yet exposes every metric with its help, and zeros for what alerts compare', () => {
  const text = createMetrics().render();
  for (const outcome of ['succeeded', 'failed'])
    assert.match(text, new RegExp(`^parley_connections_total\\{outcome="${outcome}"\\} 0$`, 'm'));
  assert.match(text, /^parley_webhook_attempts_total\{result="failed"\} 0$/m);
  assert.match(text, /^parley_connection_errors_total\{category="ICE"\} 0$/m);
  assert.match(text, /^parley_connect_seconds_bucket\{le="\+Inf"\} 0$/m);
});

test('[OBS-19] every exposed metric has its help, and what only grows is a counter', async () => {
  const lines = (await (await service.fetch('/metrics')).text()).split('\n');
  const types = lines.filter((line) => line.startsWith('# TYPE '));
  assert.ok(types.length >= 15);
  for (const line of types) {
    const [, , name = '', kind] = line.split(' ');
    assert.match(lines[lines.indexOf(line) - 1] ?? '', new RegExp(`^# HELP ${name} \\w`));
    assert.equal(kind === 'counter', name.endsWith('_total'), line);
  }
});
