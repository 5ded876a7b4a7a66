import { once } from 'node:events';
import { ConfigError, readConfig } from './config.ts';
import { StartFailure } from './control/workers.ts';
import { onHangUp } from './hang-up.ts';
import { systemClock } from './media/clock.ts';
import { startNode } from './node.ts';
import { type NodeMessage, type ServerMessage, waitsForServer } from './node-message.ts';

/** A second signal this soon is the first one by another way: from the terminal, and from who passed it on. */
const SAME_SIGNAL_MS = 1000;

/** Its settings; beside a server that does not listen yet, once that tells where it is. */
async function ownVariables(): Promise<NodeJS.ProcessEnv> {
  if (!process.argv.includes(waitsForServer)) return process.env;
  const onGone = (): void => process.exit(0);
  process.once('disconnect', onGone);
  // Only the server that started this process has its channel.
  const [{ controlUrl }] = (await once(process, 'message')) as [ServerMessage];
  process.off('disconnect', onGone);
  return { ...process.env, CONTROL_URL: controlUrl };
}

/** Runs a media node until SIGTERM or SIGINT, its terminal is closed, or until the process that started it with a channel is gone. */
async function main(): Promise<void> {
  const config = readConfig(await ownVariables());
  const tell = (message: NodeMessage): void => {
    if (process.connected) process.send?.(message);
  };
  const node = await startNode({
    config,
    clock: systemClock,
    log: (level, message) =>
      process.stderr.write(
        `${JSON.stringify({ level, name: 'sfu', node: config.name, time: new Date(systemClock.wall()).toISOString(), msg: message })}\n`,
      ),
    onRegistration: (problem) => tell({ kind: 'registration', problem }),
  });
  const end = async () => {
    await node.stop();
    process.exit(0);
  };
  let stoppingSince: number | null = null;
  const stop = async () => {
    const now = systemClock.now();
    if (stoppingSince !== null) return now - stoppingSince > SAME_SIGNAL_MS ? process.exit(1) : undefined;
    stoppingSince = now;
    await node.drain();
    await end();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  onHangUp(stop);
  process.on('disconnect', end);
  tell({ kind: 'started', internalUrl: node.internalUrl, udpPorts: node.udpPorts });
}

main().catch((error: unknown) => {
  const isExpected =
    error instanceof ConfigError || error instanceof StartFailure || (error instanceof Error && 'code' in error);
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  const failed: NodeMessage = { kind: 'failed', problem: isExpected ? error.message : null };
  if (process.connected) process.send?.(failed, () => process.exit(1));
  else process.exit(1);
});
