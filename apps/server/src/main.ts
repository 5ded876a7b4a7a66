import { enableCompileCache } from 'node:module';
import { join, relative } from 'node:path';
import { followDatabaseTime } from './adapters/db/database-time.ts';
import { cacheFolder } from './adapters/db/template.ts';
import { openAdapters } from './adapters/open.ts';
import type { Service } from './compose.ts';
import { ConfigError, readConfig } from './config.ts';
import { createSettableClock, systemClock } from './core/clock.ts';
import { createLog } from './core/log.ts';
import { banner, facts } from './dev/banner.ts';
import { firstRun } from './dev/first-run.ts';
import { startMediaNode } from './media-node.ts';
import { buildMissingPages } from './page-builds.ts';
import { explainStartFailure } from './start-failure.ts';
import { version } from './version.ts';

/** Milliseconds since the process began: what a person waits for. */
const sinceStart = (): number => performance.now();

async function main(): Promise<void> {
  // In our own folder: in the system's shared one anybody could lay down what we would run.
  enableCompileCache(join(cacheFolder(), 'compiled'));
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  // The database starts on a thread of its own: the service's modules are loaded meanwhile.
  const [adapters, { compose }] = await Promise.all([
    openAdapters(config, { clock: systemClock, log }),
    import('./compose.ts'),
  ]);
  const clock = createSettableClock();
  const stopFollowing = await followDatabaseTime(clock, adapters.db);
  const service = await compose({ config, adapters, clock, log });
  let mediaNode: ReturnType<typeof startMediaNode> | null = null;
  stopOnSignals(service, async () => {
    await mediaNode?.stop();
    stopFollowing();
    await adapters.close();
  });
  await service.start(config.isProduction ? undefined : () => welcome(service));
  if (config.runsMediaNode)
    mediaNode = startMediaNode({ config, url: service.address().url, variables: process.env, log });
  if (config.isProduction) log.info({ version, url: config.publicUrl }, 'ready');
  buildMissingPages(log);
}

/** Development mode: an account, a project, a key and a demo room to start with, and where to find them. */
async function welcome({ config, address, development }: Service): Promise<void> {
  if (development === null) return;
  const { url, publicUrl } = address();
  const { env, isNew } = await firstRun({
    url,
    publicUrl,
    dataDir: config.dataDir,
    sfuSecret: config.sfuSecrets[0] ?? '',
    signIn: development.signInAs,
  });
  const given = {
    version,
    publicUrl,
    readyInMs: sinceStart(),
    dataDir: shortPath(config.dataDir),
    env,
    isNew,
    code: development.begin({ env, url }),
    isEmbedded: config.databaseUrl === null,
    mediaPort: config.runsMediaNode ? config.sfuUdpPort : null,
  };
  const isColoured = process.stdout.isTTY && !process.env['NO_COLOR'];
  console.log(process.argv.includes('--json') ? JSON.stringify(facts(given)) : banner(given, isColoured));
}

/** Relative where that is shorter to type. */
function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short === '' || short.startsWith('..') ? path : short;
}

function stopOnSignals(service: Service, closeAdapters: () => Promise<void>): void {
  let isStopping = false;
  const stop = async () => {
    // A second signal means that somebody does not want to wait.
    if (isStopping) process.exit(1);
    isStopping = true;
    await service.stop();
    await closeAdapters();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
}

main().catch((error: unknown) => {
  console.error(error instanceof ConfigError ? error.problems.join('\n') : explainStartFailure(error));
  process.exit(1);
});
