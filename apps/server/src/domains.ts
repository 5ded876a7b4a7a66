import { signalingPath } from '@parley/contract';
import type { Config } from './config.ts';
import { createDispatcher } from './core/dispatcher.ts';
import { kindOfEvent } from './core/event-kinds.ts';
import { both, type EventRef } from './core/event-store.ts';
import type { CertificateState } from './core/front.ts';
import type { OpenConnections } from './core/grant.ts';
import type { Adapters, WebPushMaker } from './core/ports.ts';
import { createUnitOfWork } from './core/unit-of-work.ts';
import { dependencyChecks } from './dependency-checks.ts';
import { createAccounts, type PasswordCost } from './domains/accounts/index.ts';
import { createAlerts } from './domains/alerts/index.ts';
import { createAudit } from './domains/audit/index.ts';
import { createChat } from './domains/chat/index.ts';
import { createData } from './domains/data/index.ts';
import { createEndUsers } from './domains/end-users/index.ts';
import { createFleet } from './domains/fleet/index.ts';
import { createLiveStreams } from './domains/live-streams/index.ts';
import { createObservability } from './domains/observability/index.ts';
import { createProjectsDomain } from './domains/projects/index.ts';
import { createPush, noDevices } from './domains/push/index.ts';
import { countPlaced, createRoomsDomain } from './domains/rooms/index.ts';
import { createSignaling } from './domains/signaling/index.ts';
import { createUsage } from './domains/usage/index.ts';
import { createWebhooks, dispatchedOnInsert, isAskedFor, listFailing } from './domains/webhooks/index.ts';
import type { Tools } from './tools.ts';

interface DomainDeps {
  tools: Tools;
  config: Config;
  adapters: Adapters;
  certificateState: () => CertificateState | null;
  /** The sockets, which are made after the domains that close them. */
  connections: OpenConnections;
  turnFrontDoor: { host: string; port: number } | null;
  passwordCost: PasswordCost | undefined;
  webPushMaker: WebPushMaker;
}

/** Every domain, and what joins one to another. */
export function createDomains(deps: DomainDeps) {
  const { tools, config, adapters, certificateState, connections, turnFrontDoor } = deps;
  const { limits, publicUrl, ids } = tools;
  const dispatcher = createDispatcher({
    ...tools,
    async enqueue(tx, events) {
      const afterCommit = [await webhooks.enqueue(tx, events), await push.enqueue(tx, events)];
      return () => {
        for (const wake of afterCommit) wake?.();
      };
    },
    onStranded: (events) => chat.recover(events),
  });
  /** Takes what was committed: for webhooks, and for open dashboards. */
  function accept(events: readonly EventRef[]): void {
    for (const event of events) tools.changes.note(kindOfEvent(event.type), event);
    dispatcher.accept(events);
  }
  const unitOfWork = createUnitOfWork({ ...tools, onCommitted: accept });

  const audit = createAudit({ ...tools, spoolDir: config.dataDir, isAskedFor, dispatch: accept });
  const projects = createProjectsDomain({
    ...tools,
    requireVerifiedEmail: config.requireVerifiedEmail,
    connections,
    revokeRtcTokens: (projectId, mintedBy) => rooms.revokeTokens({ projectId, environment: null }, mintedBy),
  });
  const { access, offlineTokens } = projects;
  const endUsers = createEndUsers({
    ...tools,
    access,
    connections,
    revokeRtcTokens: (scope, identity) => rooms.revokeTokens(scope, { identity }),
  });
  const { standing, revokedTokens } = endUsers;
  /** What says whether a token still holds. */
  const grants = { standing, revokedTokens, offlineTokens };
  const accounts = createAccounts({
    ...tools,
    config,
    refreshGraceSeconds: limits.AUTH_REFRESH_GRACE_SECONDS,
    onUserReady: projects.joinInvited,
    isInvited: projects.isInvited,
    requiresSecondFactor: projects.access.requiresSecondFactor,
    recordSecurity: audit.recordSecurity,
    passwordCost: deps.passwordCost,
  });
  const usage = createUsage({
    ...tools,
    freeMinutes: limits.USAGE_FREE_RTC_MINUTES,
    isEnforced: config.usageEnforced,
    assertNotArchived: access.assertNotArchived,
    isAdmitted: accounts.proofs.isAdmitted,
  });
  const observability = createObservability({
    ...tools,
    retentionDays: limits.OBSERVABILITY_RETENTION_DAYS,
    assertNotArchived: access.assertNotArchived,
    nodeLoad: (name, from, until) => fleet.loadOf(name, from, until),
    authenticateSession: accounts.authenticateSession,
    roleIn: access.roleIn,
    checks: dependencyChecks(adapters, config, {
      fleet: () => fleet,
      webhooks: () => webhooks,
      certificateState,
    }),
  });
  const fleet = createFleet({
    ...tools,
    processId: ids.newUuid(),
    sfuSecrets: config.sfuSecrets,
    sfuAllowedHosts: config.sfuAllowedHosts,
    heartbeatTimeoutMs: limits.SFU_HEARTBEAT_TIMEOUT_SECONDS * 1000,
    countPlaced,
    turnFrontDoor,
    outsideRelays: config.turn.urls,
    isProduction: config.isProduction,
  });
  const rooms = createRoomsDomain({
    ...tools,
    fleet,
    ...grants,
    access,
    turn: config.turn,
    serverRegion: config.serverRegion,
    signalingUrl: `${publicUrl.replace(/^http/, 'ws')}${signalingPath}`,
    assertMayMint: ({ projectId }) => usage.assertAllowance(projectId),
  });
  const { recorder, takeNodeSamples } = observability;
  const signaling = createSignaling({ ...tools, fleet, rooms, access, connections: recorder, takeNodeSamples });
  const webhooks = createWebhooks({
    ...tools,
    allowPrivate: config.webhookAllowPrivate,
    isKeyActive: access.isKeyActive,
    onCommitted: accept,
  });
  const chat = createChat({
    ...tools,
    openConnections: connections,
    unitOfWork,
    dispatchedOnInsert: (projectId, environment) =>
      both(dispatchedOnInsert(projectId, environment), noDevices(projectId, environment)),
    dispatch: accept,
    callouts: webhooks.callouts,
    pages: webhooks.pages,
    rooms: { find: rooms.rooms.find, link: rooms.attachConversation },
    ...grants,
  });
  const push = createPush({
    ...tools,
    allowPrivate: config.webhookAllowPrivate,
    maker: deps.webPushMaker,
    urls: config.push,
    areOnline: chat.areOnline,
  });
  const liveStreams = createLiveStreams({ ...tools, unitOfWork, rooms, chat, standing });

  const alerts = createAlerts({
    ...tools,
    unitOfWork,
    assertNotArchived: access.assertNotArchived,
    signals: {
      joins: observability.joinsSince,
      failingWebhooks: (scope, failures, target) => listFailing(tools.db, scope, failures, target),
      offlineNodes: fleet.offlineNodes,
      used: usage.used,
    },
  });

  const data = createData({
    ...tools,
    unitOfWork,
    importer: chat.importer,
    cutOffUser: endUsers.cutOffUser,
    personalData: [endUsers, push, rooms, chat, liveStreams, observability, audit, webhooks].map(
      ({ personalData }) => personalData,
    ),
  });

  return {
    dispatcher,
    unitOfWork,
    webhooks,
    accounts,
    projects,
    endUsers,
    audit,
    usage,
    observability,
    fleet,
    rooms,
    signaling,
    chat,
    push,
    liveStreams,
    alerts,
    data,
  };
}
