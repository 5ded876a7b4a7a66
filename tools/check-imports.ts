/** Who may import whom (house rules, ARCHITECTURE.md). Fails when it saw fewer modules than there are files. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { finishCheck, repositoryFiles } from './repository-files.ts';

interface Import {
  from: string;
  to: string;
  isTypeOnly: boolean;
}

const domainOrder = [
  'accounts',
  'projects',
  'end-users',
  'fleet',
  'rooms',
  'signaling',
  'chat',
  'live-streams',
  'observability',
  'usage',
  'audit',
  'webhooks',
  'push',
  'alerts',
  'data',
];
const siblings = ['domains', 'http', 'sockets', 'tls', 'adapters'];
const mayNameEnvironment = ['config.ts', 'main.ts', 'migrate.ts', 'compile-cache.ts'];
const vendors = ['pg', 'redis', '@electric-sql/pglite', 'aws4fetch', 'nodemailer', 'web-push'];

const files = repositoryFiles('*.ts', '*.tsx');

const isTest = (path: string): boolean => /\.(test|contract)\.tsx?$/.test(path) || path.includes('/testkit/');

function importsOf(path: string): Import[] {
  const text = readFileSync(path, 'utf8');
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[^'"();]*?\sfrom\s+)?['"]([^'"\n]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;
  return [...text.matchAll(pattern)].map(([, typeOnly, statik, dynamic]) => {
    const to = statik ?? dynamic ?? '';
    return {
      from: path,
      to: to.startsWith('.') ? normalize(join(dirname(path), to)) : to,
      isTypeOnly: typeOnly !== undefined,
    };
  });
}

/** The part of the server a module belongs to: `core`, `domains/chat`, `http`, or its file name at the top. */
function partOf(path: string): string | null {
  const inside = /^apps\/server\/src\/(.+)$/.exec(path)?.[1];
  if (inside === undefined) return null;
  const [first = '', second = ''] = inside.split('/');
  return first === 'domains' ? `domains/${second}` : first;
}

function problemOf({ from, to, isTypeOnly }: Import): string | null {
  if (from.startsWith('packages/contract/') && !isTest(from)) {
    const isDescription = isTypeOnly && to === '@parley/media-description';
    if (!to.startsWith('packages/contract/') && !to.startsWith('typebox') && !isDescription)
      return 'the contract imports only typebox';
  }
  if (from.startsWith('packages/react/src/') && !isTest(from)) {
    const isAllowed = to.startsWith('packages/react/src/') || /^(react|@parley\/client)(\/|$)/.test(to);
    if (!isAllowed) return 'the kit imports only React and the client';
  }
  const part = partOf(from);
  if (part === null || isTest(from)) return null;
  if (vendors.includes(to) && part !== 'adapters') return `only adapters name a vendor (${to})`;
  if (to.endsWith('/core/sql.ts') && !/-store\.ts$/.test(from) && part !== 'adapters' && part !== 'core')
    return 'only *-store.ts files talk SQL';
  const target = partOf(to);
  return target === null || target === part ? null : problemBetween(part, target, to);
}

function problemBetween(part: string, target: string, to: string): string | null {
  const isSibling = (name: string) => siblings.some((sibling) => name === sibling || name.startsWith(`${sibling}/`));
  if (part === 'core') return 'core imports only the contract';
  if (part.startsWith('domains/') && target.startsWith('domains/')) {
    if (!to.endsWith('/index.ts')) return 'a domain is entered by its index.ts';
    const [own, other] = [part, target].map((name) => domainOrder.indexOf(name.slice('domains/'.length)));
    return (other ?? -1) >= 0 && (other ?? 0) < (own ?? 0)
      ? null
      : 'a domain imports only domains above it in the list';
  }
  if (isSibling(part) && target !== 'core') return `${part} and ${target} never meet; compose.ts joins them`;
  return null;
}

function textProblems(path: string): string[] {
  const part = partOf(path);
  if (part === null || isTest(path)) return [];
  const text = readFileSync(path, 'utf8');
  const found: string[] = [];
  if (text.includes('Date.now()') && !path.endsWith('core/clock.ts'))
    found.push('time comes from the clock (Date.now)');
  if (text.includes('process.env') && !mayNameEnvironment.includes(part))
    found.push('only config.ts reads the environment');
  return found.map((problem) => `${path}: ${problem}`);
}

/** Type-only imports count too: two files that need each other's types are one file, or miss a third. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const open: string[] = [];
  const visit = (node: string): string[] | null => {
    if (open.includes(node)) return [...open.slice(open.indexOf(node)), node];
    if (done.has(node)) return null;
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    open.pop();
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node);
    if (cycle) return cycle;
  }
  return null;
}

const known = new Set(files);
const all = files.flatMap(importsOf);
const problems = all.flatMap((one) => {
  const problem = problemOf(one);
  return problem ? [`${one.from} → ${one.to}: ${problem}`] : [];
});
problems.push(...files.flatMap(textProblems));
problems.push(
  ...all
    .filter(({ to }) => /^(apps|packages|tools|bench|e2e|examples)\/.*\.tsx?$/.test(to) && !known.has(to))
    .map(({ from, to }) => `${from} → ${to}: no such file`),
);
const graph = new Map(
  files.map((file) => [file, all.filter((one) => one.from === file && known.has(one.to)).map((one) => one.to)]),
);
const cycle = findCycle(graph);
if (cycle) problems.push(`import cycle: ${cycle.join(' → ')}`);
if (graph.size !== files.length || files.length < 50 || all.length < files.length) {
  problems.push(
    `saw only ${graph.size} modules and ${all.length} imports in ${files.length} files: the check is broken`,
  );
}
finishCheck(problems, `${graph.size} modules, ${all.length} imports`);
