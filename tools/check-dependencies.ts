/**
 * Every dependency has an exact version and a row in ADR 5 that says why ours would be worse, and the lockfile has the
 * builds of each for other platforms too: npm leaves out those that the registry did not have when it was written.
 */
import { readFileSync } from 'node:fs';
import { finishCheck, repositoryFiles } from './repository-files.ts';

const decision = 'docs/adr/0005-dependencies.md';

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

interface Lockfile {
  packages: Record<string, Manifest>;
}

const listed = readFileSync(decision, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
/** `@types/*` lists a whole scope. */
const isListed = (name: string): boolean =>
  listed.some((row) => (row.endsWith('/*') ? name.startsWith(row.slice(0, -1)) : name === row));

const dependencies = repositoryFiles('package.json', '**/package.json').flatMap((path) => {
  const { dependencies, devDependencies, optionalDependencies }: Manifest = JSON.parse(readFileSync(path, 'utf8'));
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([name]) => !name.startsWith('@parley/') && name !== 'create-parley')
    .map(([name, version]) => ({ path, name, version }));
});

const problems = dependencies.flatMap(({ path, name, version }) => [
  ...(/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) ? [] : [`${path}: ${name} is not pinned exactly (${version})`]),
  ...(isListed(name) ? [] : [`${path}: ${name} has no row in ${decision}`]),
]);
const used = new Set(dependencies.map(({ name }) => name));
for (const name of listed)
  if (!name.endsWith('/*') && !used.has(name)) problems.push(`${decision}: nothing depends on ${name} any more`);
if (dependencies.length < 20) problems.push(`saw only ${dependencies.length} dependencies: the check is broken`);

const { packages }: Lockfile = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const builds = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
  Object.keys(optionalDependencies).map((name) => ({ path, name })),
);
/** Where npm looks for what the package at `path` asks for: beside it, then in each folder above. */
const isLocked = (path: string, name: string): boolean => {
  const parents = path.split('node_modules/').map((_, at, parts) => parts.slice(0, at + 1).join('node_modules/'));
  return ['', ...parents, `${path}/`].some((parent) => `${parent}node_modules/${name}` in packages);
};
for (const { path, name } of builds)
  if (!isLocked(path, name)) problems.push(`package-lock.json: ${path} may need ${name}, which is not locked`);
if (builds.length < 40) problems.push(`saw only ${builds.length} builds for platforms: the check is broken`);

finishCheck(problems, `${used.size} packages, each with its reason, and ${builds.length} builds for platforms`);
