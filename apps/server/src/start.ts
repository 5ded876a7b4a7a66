import { beginAdapters } from './adapters/open.ts';
import { readConfig, type Variables } from './config.ts';
import { systemClock } from './core/clock.ts';
import { createLog } from './core/log.ts';
import { explainStartFailure } from './start-failure.ts';
import { deferWasmCompilation } from './wasm-compilation.ts';

/** Runs the service until SIGTERM or SIGINT, or says why it does not. */
export async function start(variables: Variables): Promise<void> {
  let isEmbedded = true;
  try {
    const config = readConfig(variables);
    isEmbedded = config.databaseUrl === null;
    const log = createLog(config.logLevel);
    const compileNow = isEmbedded ? deferWasmCompilation() : () => {};
    const { opened, ...adapters } = await beginAdapters(config, { clock: systemClock, log });
    // Nothing of the service is loaded before: the database opens in parallel, on its own thread.
    const { serve } = await import('./serve.ts');
    await serve({ config, variables, adapters, opened, log, onReady: compileNow });
  } catch (error) {
    console.error(explainStartFailure(error, isEmbedded));
    process.exit(1);
  }
}
