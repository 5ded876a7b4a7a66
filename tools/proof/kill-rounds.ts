/**
 * The promise that nothing acknowledged is lost, at full size: an embedded server is killed with -9 in the middle of
 * writes and started again, 100 times.
 *
 *   node tools/proof/kill-rounds.ts [rounds]
 */
import { rm } from 'node:fs/promises';
import { newDataDir } from '../../apps/server/testkit/kit/process.ts';
import { runKillRounds } from '../../e2e/kill-rounds.ts';

const rounds = Number(process.argv[2] ?? 100);
const dataDir = await newDataDir();
try {
  const { acknowledged, lost } = await runKillRounds(rounds, { DATA_DIR: dataDir });
  console.log(`${acknowledged} writes acknowledged over ${rounds} kills, ${lost.length} lost`);
  for (const id of lost) console.log(id);
  process.exitCode = lost.length === 0 && acknowledged >= rounds * 10 ? 0 : 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
