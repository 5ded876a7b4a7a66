import { createClient, createCluster, createSentinel } from 'redis';
import { idOf, type RedisAddress, type RedisLogin, type RedisNode } from './redis-address.ts';

interface ScriptOptions {
  keys: string[];
  arguments: string[];
}

/** What we ask of a server, a master behind sentinels or a cluster. */
export interface Commands {
  evalSha(sha: string, options: ScriptOptions): Promise<unknown>;
  eval(script: string, options: ScriptOptions): Promise<unknown>;
  publish(channel: string, text: string): Promise<unknown>;
  del(key: string): Promise<unknown>;
}

/** A server that can be listened to, with the tags whose channels are there. */
export interface BusNode {
  address: string;
  tags: readonly string[];
  /** A connection to listen on, not yet connected. */
  open(): BusConnection;
}

export interface Store extends Commands {
  readonly isReady: boolean;
  onReady(listener: () => void): void;
  /** One for each of its servers; those that are not connected reject at once. */
  pings(): Promise<unknown>[];
  /** Which of its servers has the names of a tag now, as far as known. */
  placeOf(tag: string): string;
  /** As far as known; none before there was a connection. */
  busNodes(): BusNode[];
  destroy(): void;
}

type Listener = (text: string, channel: string) => void;

/** A connection that listens. */
export interface BusConnection {
  readonly isReady: boolean;
  onReady(listener: () => void): void;
  /** The connection was lost, or its channels are elsewhere now. */
  onLoss(listener: () => void): void;
  connect(): void;
  subscribe(channels: readonly string[], listener: Listener): Promise<unknown>;
  unsubscribe(channels: readonly string[], listener: Listener): Promise<unknown>;
  destroy(): void;
}

const reconnectStrategy = (retries: number): number => Math.min(50 * 2 ** retries, 1_000);
// The library's own limit is a signal and a timer for each command, which fires long after the answer; the link has one.
const commandOptions = { timeout: 0 };
const common = { disableOfflineQueue: true, maintNotifications: 'disabled', commandOptions } as const;
const topologyMs = 500;
const discoverMs = 1_000;

/** More than there will be masters: each tag is in one slot, with all its keys and channels. Of one length. */
const clusterTags = Array.from({ length: 64 }, (_, at) => `{${String(at).padStart(2, '0')}}`);
const oneTag = [''];
export const tagsOf = (kind: RedisAddress['kind']): readonly string[] => (kind === 'cluster' ? clusterTags : oneTag);

export type OnError = (error: unknown) => void;

function newClient(url: string, onError: OnError) {
  const client = createClient({ url, ...common, socket: { connectTimeout: 1_000, reconnectStrategy } });
  reportOnce(client, onError);
  return client;
}

/** One report an outage: each attempt to reconnect fails with an error of its own. */
function reportOnce(client: { on(event: string, listener: (error: unknown) => void): unknown }, onError: OnError) {
  let isReported = false;
  client.on('error', (error) => {
    if (!isReported) onError(error);
    isReported = true;
  });
  client.on('ready', () => {
    isReported = false;
  });
}

function openConnection(url: string, isSharded: boolean, onError: OnError): BusConnection {
  const client = newClient(url, onError);
  const subscribe = (channels: string[], listener: Listener) =>
    isSharded ? client.sSubscribe(channels, listener) : client.subscribe(channels, listener);
  const unsubscribe = (channels: string[], listener: Listener) =>
    isSharded ? client.sUnsubscribe(channels, listener) : client.unsubscribe(channels, listener);
  return {
    get isReady() {
      return client.isReady;
    },
    onReady: (listener) => void client.on('ready', listener),
    onLoss: (listener) =>
      void client.on('error', listener).on('reconnecting', listener).on('sharded-channel-moved', listener),
    connect: () => void client.connect().catch(() => {}), // rejects only when closed before it was ever connected
    subscribe: (channels, listener) => Promise.all(bySlot(channels).map((some) => subscribe(some, listener))),
    unsubscribe: (channels, listener) => Promise.all(bySlot(channels).map((some) => unsubscribe(some, listener))),
    destroy: () => (client.isOpen ? client.destroy() : undefined),
  };
}

/** A command takes channels of one slot only. */
const bySlot = (channels: readonly string[]): string[][] => [
  ...Map.groupBy(channels, (channel) => /\{\d\d\}/.exec(channel)?.[0] ?? '').values(),
];

export function openServer(url: string, onError: OnError): Store {
  const client = newClient(url, onError);
  client.connect().catch(() => {}); // as above
  const busNode = { address: url, tags: oneTag, open: () => openConnection(url, false, onError) };
  return {
    get isReady() {
      return client.isReady;
    },
    onReady: (listener) => void client.on('ready', listener),
    evalSha: (sha, options) => client.evalSha(sha, options),
    eval: (script, options) => client.eval(script, options),
    publish: (channel, text) => client.publish(channel, text),
    del: (key) => client.del(key),
    pings: () => [client.ping()],
    placeOf: () => '',
    busNodes: () => [busNode],
    destroy: () => (client.isOpen ? client.destroy() : undefined),
  };
}

const urlOf = (node: RedisNode, { username = '', password, isTls }: RedisLogin): string => {
  const login = password === undefined ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
  return `redis${isTls ? 's' : ''}://${login}${idOf(node)}`;
};

const optionsOf = ({ username, password, isTls }: RedisLogin) => ({
  ...common,
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
  socket: { connectTimeout: 1_000, reconnectStrategy, ...(isTls && { tls: true as const }) },
});

/** Connects until it succeeds or is over: the library gives up after one attempt. */
function connecting(connect: () => Promise<unknown>, onError: OnError): { stop(): void } {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const attempt = (): void => {
    connect().catch((error) => {
      if (isStopped) return;
      onError(error);
      timer = setTimeout(attempt, topologyMs);
      timer.unref();
    });
  };
  attempt();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

export function openCluster({ nodes, login }: RedisAddress & { kind: 'cluster' }, onError: OnError): Store {
  const cluster = createCluster({
    // One that accepts connections and says nothing must not keep us from asking the next.
    rootNodes: nodes.map((node) => ({ url: urlOf(node, login), socket: { socketTimeout: discoverMs } })),
    defaults: optionsOf(login),
    commandOptions,
    // A master that hangs must not keep us from the others.
    minimizeConnections: true,
    topologyRefreshOnReconnectionAttemptStrategy: topologyMs,
  });
  reportOnce(cluster, onError);
  const attempts = connecting(() => cluster.connect(), onError);
  const slots = new Map(clusterTags.map((tag) => [tag, slotOf(tag)]));
  const masterOf = (tag: string): string => cluster.slots[slots.get(tag) ?? 0]?.master.address ?? '';

  return {
    get isReady() {
      return cluster.isReady;
    },
    onReady: (listener) => void cluster.on('connect', listener),
    evalSha: (sha, options) => cluster.evalSha(sha, options),
    eval: (script, options) => cluster.eval(script, options),
    publish: (channel, text) => cluster.sPublish(channel, text),
    del: (key) => cluster.del(key),
    pings: () => cluster.masters.map(async (master) => (await cluster.nodeClient(master)).ping()),
    placeOf: masterOf,
    busNodes() {
      const known = Map.groupBy(clusterTags, masterOf);
      return cluster.masters.flatMap(({ address, host, port }) => {
        const tags = known.get(address);
        return tags ? [{ address, tags, open: () => openConnection(urlOf({ host, port }, login), true, onError) }] : [];
      });
    },
    destroy() {
      attempts.stop();
      if (cluster.isOpen) cluster.destroy();
    },
  };
}

export function openSentinel(address: RedisAddress & { kind: 'sentinel' }, onError: OnError): Store {
  const { nodes, login, master } = address;
  const sentinel = createSentinel({
    name: master,
    sentinelRootNodes: [...nodes],
    nodeClientOptions: optionsOf(login),
    commandOptions,
    sentinelClientOptions: optionsOf({ isTls: login.isTls }),
    scanInterval: topologyMs,
  });
  reportOnce(sentinel, onError);
  const ready = new Set<() => void>();
  const connect = async (): Promise<void> => {
    await sentinel.connect();
    for (const listener of ready) listener();
  };
  const attempts = connecting(connect, onError);
  return {
    get isReady() {
      return sentinel.isReady;
    },
    onReady: (listener) => void ready.add(listener),
    evalSha: (sha, options) => sentinel.evalSha(sha, options),
    eval: (script, options) => sentinel.eval(script, options),
    publish: (channel, text) => sentinel.publish(channel, text),
    del: (key) => sentinel.del(key),
    pings: () => [sentinel.ping()],
    placeOf: () => '',
    busNodes() {
      const node = sentinel.getMasterNode();
      if (!node) return [];
      const url = urlOf(node, login);
      return [{ address: idOf(node), tags: oneTag, open: () => openConnection(url, false, onError) }];
    },
    destroy() {
      attempts.stop();
      if (sentinel.isOpen) sentinel.destroy();
    },
  };
}

/** The slot of what is between the braces of a tag: CRC16 (XMODEM), as the cluster's specification has it. */
function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag.slice(1, -1))) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc % 16_384;
}
