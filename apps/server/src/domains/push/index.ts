import type { Limits, pushRoutes } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { AfterCommit } from '../../core/dispatcher.ts';
import type { EventRef } from '../../core/event-store.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { Domain } from '../../core/part.ts';
import { type PersonalData, untilNone } from '../../core/personal-data.ts';
import type { Bus, WebPushMaker } from '../../core/ports.ts';
import { cacheSlowReads } from '../../core/slow-reads.ts';
import type { Chat } from '../chat/index.ts';
import { createResolve, createSender } from '../webhooks/index.ts';
import { type ApnsUrls, createApns } from './apns.ts';
import { countServices } from './dashboard-store.ts';
import { deletePushOfUser } from './device-store.ts';
import { createDevices } from './devices.ts';
import { createFanOut } from './fan-out.ts';
import { insertJobs } from './fan-out-store.ts';
import { createFcm, type FcmUrls } from './fcm.ts';
import { listDevicesOf, listPreferencesOf } from './personal-store.ts';
import { createPreferences } from './preferences.ts';
import { createSending } from './sending.ts';
import { createSettings } from './settings.ts';
import { createWebPush } from './web-push.ts';

export { noDevices } from './device-store.ts';

interface PushDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  keyring: Keyring;
  log: Log;
  bus: Bus;
  metrics: Metrics;
  limits: Limits;
  publicUrl: string;
  isProduction: boolean;
  /** WEBHOOK_ALLOW_PRIVATE. */
  allowPrivate: boolean;
  maker: WebPushMaker;
  urls: { fcm: FcmUrls; apns: ApnsUrls };
  areOnline: Chat['areOnline'];
}

interface Push extends Domain<typeof pushRoutes> {
  /** A job for each message of an environment with devices, in the transaction that marks the events as dispatched. */
  enqueue(tx: Tx, events: readonly EventRef[]): Promise<AfterCommit | undefined>;
  /** Seals anew what was sealed under the SECRET_KEY before this one; gives how many environments had something. */
  renewSealed(): Promise<number>;
  personalData: PersonalData;
  /** Resolves when nothing is due and nothing in flight. */
  settled(): Promise<void>;
}

/** Notifications of chat messages, for users who are not there. */
export function createPush(deps: PushDeps): Push {
  const { clock, limits, isProduction, allowPrivate, urls } = deps;
  const rules = { isProduction, allowPrivate };
  const devices = createDevices({ ...deps, rules });
  const preferences = createPreferences(deps);
  const settings = createSettings(deps);
  const { renewSealed } = settings;
  const services = cacheSlowReads(clock, (scope) => countServices(deps.db, scope, iso(clock.now())));

  const resolve = createResolve({ usesSystemNames: !isProduction || allowPrivate });
  const timeoutMs = limits.PUSH_TIMEOUT_MS;
  const transports = {
    WEB_PUSH: createWebPush({ ...deps, settings, rules, sender: createSender({ clock, resolve, timeoutMs }) }),
    FCM: createFcm({ ...deps, urls: urls.fcm, timeoutMs }),
    APNS: createApns({ ...deps, urls: urls.apns, timeoutMs }),
  };
  const sending = createSending({ ...deps, settings, transports });
  const fanOut = createFanOut({ ...deps, settings, onQueued: sending.wake });

  return {
    async enqueue(tx, events) {
      const messages = events.filter(({ type }) => type === 'message.created');
      if (messages.length === 0) return;
      const lanes = await insertJobs(tx, messages, iso(clock.now()));
      return () => fanOut.wake(lanes);
    },
    renewSealed,
    personalData: {
      exports: [
        { kind: 'push_device', page: (person) => listDevicesOf(deps.db, person) },
        { kind: 'push_preferences', page: (person) => listPreferencesOf(deps.db, person) },
      ],
      erasures: [untilNone('push', (erasure) => deletePushOfUser(deps.db, erasure, erasure.userId))],
    },
    chores: [
      sending.chore,
      fanOut.chore,
      { name: 'push-secrets', everyMs: 600_000, run: renewSealed, onDatabaseAlone: true },
    ],
    async start() {
      await Promise.all([sending.start(), fanOut.start()]);
    },
    async settled() {
      await fanOut.settled();
      await sending.settled();
    },
    async stop() {
      await fanOut.stop();
      await sending.stop();
      for (const transport of Object.values(transports)) transport.close();
    },
    handlers: {
      listPushDevices: ({ caller, query }) => devices.list(caller, query.userId),
      putPushDevice: ({ caller, body }) => devices.put(caller, body),
      deletePushDevice: ({ caller, params }) => devices.remove(caller, params.deviceId),
      getPushPreferences: ({ caller, query }) => preferences.get(caller, query.userId),
      setPushPreferences: ({ caller, body }) => preferences.set(caller, body),
      getPushKey: ({ caller }) => settings.getKey(caller),
      getPushSettings: ({ caller }) => settings.get(caller),
      updatePushSettings: ({ caller, body }) => settings.update(caller, body),
      getProjectPush: async ({ caller }) => ({
        settings: await settings.get(caller),
        services: await services(caller),
      }),
      updateProjectPush: ({ caller, body }) => settings.update(caller, body),
    },
  };
}
