import type { Server } from 'node:net';
import { createAcmeAuthority } from './adapters/acme/authority.ts';
import { certificateMaker } from './adapters/acme/x509.ts';
import { webPushMaker } from './adapters/push/web-push.ts';
import type { Config } from './config.ts';
import type { Clock } from './core/clock.ts';
import { openConnections } from './core/grant.ts';
import type { Log } from './core/log.ts';
import { isOriginAllowed } from './core/origins.ts';
import { mergeHandlers, type Part } from './core/part.ts';
import type { Adapters } from './core/ports.ts';
import { createTimers } from './core/timers.ts';
import { createDevelopment } from './dev/development.ts';
import type { PasswordCost } from './domains/accounts/index.ts';
import { createDomains } from './domains.ts';
import { createHttp } from './http/index.ts';
import type { LoopDelay } from './http/load-guard.ts';
import { createMediaHealth } from './media-health.ts';
import type { MediaState } from './media-node.ts';
import { createSockets } from './sockets/index.ts';
import { createTls, type OpenTurnPipe } from './tls/index.ts';
import { createTools } from './tools.ts';
import { version } from './version.ts';

interface ComposeDeps {
  config: Config;
  adapters: Adapters;
  clock: Clock;
  log: Log;
  loopDelay?: LoopDelay;
  /** An open port to listen on, where its number had to be known before: in tests. */
  listener?: Server;
  /** Where TURN on our own port goes: to the media node, unless given. */
  openTurnPipe?: OpenTurnPipe;
  /** The node beside this server, if it runs one. */
  mediaNode?: () => MediaState | null;
  /** Of new passwords, where it is not to be the recommended one: in tests. */
  passwordCost?: PasswordCost;
}

export type Service = Awaited<ReturnType<typeof compose>>;

/** The wiring diagram: every part is built and joined here. */
export async function compose(deps: ComposeDeps) {
  const { config, adapters, clock, log, loopDelay, mediaNode } = deps;
  const { isProduction } = config;
  const { tools, tracing } = createTools({ config, adapters, clock, log });
  const tls = createTls({
    ...tools,
    tls: config.tls,
    plainPort: config.plainPort,
    host: config.host,
    publicUrl: config.publicUrl,
    edge: () => http.edge,
    openTurnPipe: deps.openTurnPipe ?? ((client) => fleet.turn.openPipe(client)),
    authorityAt: (directoryUrl) => createAcmeAuthority({ directoryUrl, clock }),
    maker: certificateMaker,
  });
  const { dispatcher, unitOfWork, ...byName } = createDomains({
    tools,
    config,
    adapters,
    certificateState: tls.certificateState,
    connections: openConnections(() => sockets),
    turnFrontDoor: ownTlsAddress(config),
    passwordCost: deps.passwordCost,
    webPushMaker,
  });
  const { webhooks, push, accounts, projects, audit, usage, fleet, rooms, chat, observability, alerts, data } = byName;
  const { access } = projects;
  const domains = Object.values(byName);

  let state: 'starting' | 'ready' | 'draining' = 'starting';
  const development = isProduction ? null : createDevelopment({ seedAccount: accounts.seedAccount, log });
  const http = createHttp({
    ...config,
    version,
    ...tools,
    ...tls,
    handlers: mergeHandlers(domains),
    authenticators: {
      apiKey: access.authenticateKey,
      session: accounts.authenticateSession,
      chatToken: chat.authenticateToken,
      rtcToken: rooms.authenticateRtcToken,
    },
    roleIn: access.roleIn,
    proofs: accounts.proofs,
    originPolicy: access.originPolicy,
    recordAudit: audit.record,
    noteKeyUse: audit.noteKeyUse,
    noteRequest: observability.noteRequest,
    files: chat.files,
    dataFiles: data.files,
    development,
    isReady: () => state === 'ready',
    isDraining: () => state === 'draining',
    media: createMediaHealth({ mediaNode, takesRooms: fleet.takesRooms }),
    loopDelay,
    listener: deps.listener,
  });

  const sockets = createSockets({
    ...tools,
    ...http.edge,
    sockets: domains.flatMap((domain: Part) => domain.sockets ?? []),
    isOriginAllowed: async (projectId, origin) => isOriginAllowed(await access.originPolicy(projectId), origin),
  });
  http.app.server.on('upgrade', sockets.upgrade);
  tools.metrics.gauge('parley_sockets', 'Open sockets, chat and signaling.', () => sockets.count);
  const chores = [dispatcher, ...domains, tls, http].flatMap((part: Part) => part.chores ?? []);
  const timers = createTimers({ ...tools, chores });
  // Stopped in reverse: first no work comes in, last stops what the others hand their work to.
  const recorders = domains.filter((domain) => domain !== webhooks && domain !== push);
  const parts: readonly Part[] = [tracing, webhooks, push, dispatcher, ...recorders, timers, tls, http, sockets];

  return {
    app: http.app,
    mounted: http.mounted,
    address: http.address,
    config,
    development,
    fleet,
    unitOfWork,
    dispatcher,
    /** For tests that look at all of them. */
    chores,
    choresInFlight: timers.inFlight,
    accounts,
    projects,
    webhooks,
    push,
    usage,
    chat,
    audit,
    alerts,
    data,

    /** Listens, runs `prepare` against the public API, and is ready after it. */
    async start(prepare: () => Promise<void> = async () => {}): Promise<void> {
      for (const part of parts) await part.start?.();
      await prepare();
      if (state === 'starting') state = 'ready';
    },

    /** New work is refused from here on; what runs is finished. */
    async stop(): Promise<void> {
      state = 'draining';
      await sockets.drain(isProduction ? config.limits.SOCKETS_DRAIN_SECONDS * 1_000 : 0);
      for (const part of parts.toReversed()) await part.stop?.();
    },
  };
}

const httpsPort = 443;

/** Where clients reach TURN by TLS: on our own port when we end TLS ourselves. */
function ownTlsAddress({ tls, publicUrl }: Config): { host: string; port: number } | null {
  if (tls.kind === 'off' || publicUrl === null) return null;
  const { hostname, port } = new URL(publicUrl);
  return { host: hostname, port: Number(port) || httpsPort };
}
