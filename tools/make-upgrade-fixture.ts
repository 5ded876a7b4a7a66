/**
 * Writes the upgrade fixture of this version: a backup of a machine that was used, and what its user remembers.
 * Run once for each release; the upgrade test brings every fixture to the newest schema and goes on from it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup } from '../apps/server/src/backup/index.ts';
import { version } from '../apps/server/src/version.ts';
import { settle } from '../apps/server/testkit/clients/webhooks.ts';
import { inhabit, startMachine, variablesOf } from '../apps/server/testkit/kit/machine.ts';
import { startReceiver } from '../apps/server/testkit/peers/receiver.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'parley-fixture-'));
const place = { dataDir, databaseUrl: null };
const receiver = await startReceiver();
const machine = await startMachine(place);
const memory = await inhabit(machine, receiver.url);
await settle(machine);
await machine.stop();
await receiver.close();

const name = `apps/server/testkit/fixtures/upgrade-${process.argv[2] ?? version}`;
const options = { path: `${name}.parley`, passphrase: null, withoutFiles: false, progress: () => {} };
const { manifest } = await backup(variablesOf(place), options);
await writeFile(`${name}.json`, `${JSON.stringify(memory, null, 2)}\n`);
await rm(dataDir, { recursive: true, force: true });
console.log(`${name}.parley: schema ${manifest.schema.at(-1)?.name}.`);
process.exit(0);
