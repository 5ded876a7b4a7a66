/**
 * Proof with coturn's own client (Debian: `apt-get install coturn`): `turnutils_uclient` against our relay by UDP and
 * TCP, with channels and with Send indications. `node tools/proof/turn-uclient.ts`; the suite runs the same where it is
 * installed. Its peers are two neighbouring ports, since it always binds the one of RTCP too.
 */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { startTurnStage } from '../../apps/sfu/testkit/turn-stage.ts';

const program = 'turnutils_uclient';
const MESSAGES = 5;

export interface UclientRun {
  options: string;
  sent: number;
  received: number;
}

/** Why it cannot run here, or null. */
export const missingUclient = (): string | null =>
  spawnSync(program, ['-h']).error ? `${program} is not installed: apt-get install coturn` : null;

/** What it sent through the relay and got back from an echo behind it. */
export async function runUclient(): Promise<UclientRun[]> {
  const stage = await startTurnStage();
  const { username, credential } = stage.credential();
  const target = ['-p', String(stage.relay.port), '-e', stage.peer.address, '-r', String(stage.peer.port)];
  const load = ['-c', '-m', '1', '-n', String(MESSAGES), '-l', '200'];
  const run = async (options: string): Promise<UclientRun> => {
    const given = ['-u', username, '-w', credential, ...target, ...load, ...options.split(' ').filter(Boolean)];
    const { stdout } = await promisify(execFile)(program, [...given, '127.0.0.1'], { timeout: 60_000 });
    const [, sent, received] = /tot_send_msgs=(\d+), tot_recv_msgs=(\d+)\s*$/m.exec(stdout.trim()) ?? [];
    return { options, sent: Number(sent), received: Number(received) };
  };
  const runs = await Promise.all(['', '-s', '-t', '-t -s'].map(run));
  await stage.stop();
  return runs;
}

if (import.meta.main) {
  const missing = missingUclient();
  if (missing) console.log(missing);
  else console.table(await runUclient());
}
