import { ConfigError, readConfig } from './config.ts';
import { StartFailure } from './control/workers.ts';
import { systemClock } from './media/clock.ts';
import { startNode } from './node.ts';

/** Runs a media node until SIGTERM or SIGINT, or until the process that started it with a channel is gone. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const node = await startNode({
    config,
    clock: systemClock,
    log: (level, message) =>
      process.stderr.write(
        `${JSON.stringify({ level, name: 'sfu', node: config.name, time: new Date(systemClock.wall()).toISOString(), msg: message })}\n`,
      ),
  });
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    await node.stop();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop);
  process.send?.({ kind: 'started', internalUrl: node.internalUrl });
}

main().catch((error: unknown) => {
  const isExpected =
    error instanceof ConfigError || error instanceof StartFailure || (error instanceof Error && 'code' in error);
  process.stderr.write(`${isExpected ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
});
