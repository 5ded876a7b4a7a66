import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { install, type Prepared, sdkTarballs } from './prepared.ts';

const use = `
const parley = new Parley({ apiKey: 'svk_dev_a.b', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 });
const room = new Room({ url: 'http://localhost', token: 'x' });
parley.rooms.create({ name: 'x' }).catch((error) =>
  console.log(typeof Chat, room.state.getSnapshot().connection, ParleyError.is(error), error.code));
`;

/** Import and require in every Node, with an error that goes from one SDK to the other. */
export async function proveSdk(prepared: Prepared): Promise<void> {
  const folder = install(join(prepared.work, 'sdk'), sdkTarballs(prepared));
  const from = {
    '{ Room, ParleyError }': '@parley/client',
    '{ Chat }': '@parley/client/chat',
    '{ Parley }': '@parley/server',
  };
  const lines = (write: (names: string, name: string) => string): string =>
    Object.entries(from)
      .map(([names, name]) => write(names, name))
      .join('\n');
  const files = {
    'use.mjs': lines((names, name) => `import ${names} from '${name}';`) + use,
    'use.cjs': lines((names, name) => `const ${names} = require('${name}');`) + use,
  };
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code);
  for (const { path, version } of prepared.nodes)
    for (const name of Object.keys(files)) {
      assert.equal(execFileSync(path, [name], { cwd: folder, encoding: 'utf8' }), 'function idle true network\n');
      console.log(`  ${version} runs ${name}`);
    }
}
