import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { repositoryFiles } from '../repository-files.ts';
import { atVersion } from './version.ts';

test('[PKG-3] every manifest has the version of the repository, for itself and for what it uses of ours', () => {
  const paths = repositoryFiles('package.json', '**/package.json');
  assert.ok(paths.length > 10);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const path of paths) {
    const text = readFileSync(path, 'utf8');
    assert.equal(atVersion(text, version), text, path);
  }
});

test('[PKG-3] a new version reaches the package and its dependencies of ours, and nothing else', () => {
  const old =
    '{\n  "version": "0.1.0",\n  "dependencies": {\n    "@parley/client": "0.1.0",\n    "create-parley": "0.1.0",\n    "ws": "0.1.0"\n  }\n}';
  const moved = JSON.parse(atVersion(old, '1.0.0-rc.1'));
  const dependencies = { '@parley/client': '1.0.0-rc.1', 'create-parley': '1.0.0-rc.1', ws: '0.1.0' };
  assert.deepEqual(moved, { version: '1.0.0-rc.1', dependencies });
});
