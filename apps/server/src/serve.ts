import { hostname } from 'node:os';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onHangUp } from '@parley/sfu/hang-up';
import { followDatabaseTime } from './adapters/db/shared/database-time.ts';
import { embeddedFolder, type OpenAdapters } from './adapters/open.ts';
import { offerSnapshots } from './backup/live-snapshot.ts';
import { compose, type Service } from './compose.ts';
import type { Config, Variables } from './config.ts';
import { createSettableClock } from './core/clock.ts';
import type { Log } from './core/log.ts';
import type { Adapters } from './core/ports.ts';
import { StartRefused } from './core/start-refused.ts';
import { isFromDevelopment, isOpenToOthers } from './data-folder.ts';
import { banner, facts } from './dev/banner.ts';
import { firstRun } from './dev/first-run.ts';
import { secretNames } from './kept-secrets.ts';
import { type MediaNode, startMediaNode } from './media-node.ts';
import { warnWithoutNodes } from './node-watch.ts';
import { buildMissingPages } from './page-builds.ts';
import { firstAccountText, notices, productionBanner, type StartFacts } from './production-banner.ts';
import { lacksTls } from './tls-settings.ts';
import { version } from './version.ts';

interface ServeOptions {
  config: Config;
  /** What the process was given. */
  variables: Variables;
  adapters: OpenAdapters;
  /** The database may be asked when this has resolved. */
  opened: Promise<void>;
  log: Log;
  onReady: () => void;
}

/** The banner says how the media node is by then, whatever that is. */
const bannerPatienceMs = 5_000;
/** So long a server that is told to end goes on filling the demo room. */
const demoMsMax = 2_000;

/** Milliseconds since the process began: what a person waits for. */
const sinceStart = (): number => performance.now();

/** Builds the service while the database opens, and runs it until SIGTERM or SIGINT. */
export async function serve({ config, variables, adapters, opened, log, onReady }: ServeOptions): Promise<void> {
  const clock = createSettableClock();
  const listening = Promise.withResolvers<string>();
  const mediaNode: MediaNode | null = config.runsMediaNode
    ? startMediaNode({ config, url: listening.promise, variables, log })
    : null;
  let fillDemo = async (): Promise<void> => {};
  let demoFilled = Promise.resolve();
  const service = await compose({ config, adapters, clock, log, mediaNode: () => mediaNode?.state() ?? null });
  await opened;
  const stopFollowing = await followDatabaseTime(clock, adapters.db);
  const stopOffering =
    config.databaseUrl === null ? await offerSnapshots(embeddedFolder(config), adapters.db, log) : async () => {};
  const isStopping = stopOnSignals(log, async () => {
    // Without a database it ends by its time.
    await service.accounts.voidFirstAccountLink().catch(() => {});
    // Half a demo would stay half.
    await Promise.race([demoFilled, sleep(demoMsMax, undefined, { ref: false })]);
    // First the node: this server moves who is on it.
    await mediaNode?.stop();
    await service.stop();
    stopFollowing();
    await stopOffering();
    await adapters.close();
  });
  async function prepare(): Promise<void> {
    if (isStopping()) return;
    listening.resolve(service.address().url);
    if (!config.isProduction) fillDemo = await welcome(service, variables, mediaNode);
    // A join right after the start finds a node.
    await mediaNode?.settled;
    const refusal = mediaNode?.refusal() ?? null;
    if (config.isProduction && refusal !== null) throw new StartRefused(`The media node cannot start. ${refusal}`);
  }
  await service.start(prepare).catch((error) => {
    if (!isStopping()) throw error;
  });
  // The signal handler ends the process.
  if (isStopping()) return;
  onReady();
  demoFilled = fillDemo().catch((error) => log.warn({ error }, 'the demo room could not be filled'));
  if (config.isProduction) {
    await announce(service, adapters, mediaNode, { variables, log });
    if (mediaNode === null) void warnWithoutNodes({ takesRooms: () => service.fleet.takesRooms(), log, isStopping });
  }
  buildMissingPages(log);
}

/** Development mode: an account, a project, a key and a demo room to start with, and where to find them. Gives what fills the room. */
async function welcome(
  { config, address, development }: Service,
  variables: Variables,
  mediaNode: MediaNode | null,
): Promise<() => Promise<void>> {
  if (development === null) return async () => {};
  const { url, publicUrl } = address();
  const { env, isNew, fillDemo } = await firstRun({
    url,
    publicUrl,
    dataDir: config.dataDir,
    sfuSecret: config.sfuSecrets[0] ?? '',
    textLengthMax: config.limits.CHAT_MAX_TEXT_LENGTH,
    signIn: development.signInAs,
    onSecret: development.receiveWith,
  });
  if (mediaNode) await Promise.race([mediaNode.settled, sleep(bannerPatienceMs, undefined, { ref: false })]);
  const given = {
    version,
    publicUrl,
    readyInMs: sinceStart(),
    dataDir: shortPath(config.dataDir),
    env,
    isNew,
    code: development.begin({ env, url }),
    isEmbedded: config.databaseUrl === null,
    media: mediaNode?.state() ?? null,
  };
  const isColoured = process.stdout.isTTY && !variables['NO_COLOR'];
  console.log(process.argv.includes('--json') ? JSON.stringify(facts(given)) : banner(given, isColoured));
  return fillDemo;
}

/** Production: what this start stands on and what that risks, and the link to make the first account with. */
async function announce(
  { config, accounts }: Service,
  { mail }: Adapters,
  mediaNode: MediaNode | null,
  { variables, log }: Pick<ServeOptions, 'variables' | 'log'>,
): Promise<void> {
  const facts: StartFacts = {
    version,
    publicUrl: config.publicUrl,
    readyInMs: sinceStart(),
    dataDir: shortPath(config.dataDir),
    hasPostgres: config.databaseUrl !== null,
    hasRedis: config.redisUrl !== null,
    hasS3: config.s3 !== null,
    sendsMail: mail.canSend,
    media: mediaNode?.state() ?? null,
    hasKeptSecrets: secretNames.some((name) => !variables[name]?.trim()),
    lacksTls: lacksTls(config),
    isFolderOpenToOthers: isOpenToOthers(config.dataDir),
    isFromDevelopment: isFromDevelopment(config.dataDir),
  };
  // Each server has a link of its own, and its next start another. An embedded database has one server, on any port.
  const server = config.databaseUrl === null ? 'embedded' : `${hostname()}:${config.port}`;
  const link = await accounts.renewFirstAccountLink(server);
  if (process.stdout.isTTY) return console.log(productionBanner(facts, link, !variables['NO_COLOR']));
  for (const { about, text } of notices(facts)) log.warn({ about }, text);
  if (link !== null) log.warn({ link }, firstAccountText);
  log.info({ version, url: config.publicUrl }, 'ready');
}

/** Relative where that is shorter to type. */
function shortPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short === '' || short.startsWith('..') ? path : short;
}

/** Runs `stop` and ends the process at the first signal. Answers whether that has come. */
function stopOnSignals(log: Log, stop: () => Promise<void>): () => boolean {
  let stoppingSince: number | null = null;
  const onSignal = () => {
    const now = performance.now();
    // One Ctrl-C comes from the terminal and from npm. A later one means: stop without draining.
    if (stoppingSince !== null) return now - stoppingSince > 1_000 ? process.exit(1) : undefined;
    stoppingSince = now;
    // The terminal may be gone: what cannot be printed must not end us before the rest is done.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ error }, 'stopped, but not cleanly');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  onHangUp(onSignal);
  // Of the CLI, which passes its signals on as long as it lives.
  process.on('disconnect', onSignal);
  return () => stoppingSince !== null;
}
