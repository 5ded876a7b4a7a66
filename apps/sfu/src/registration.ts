import type { MediaClock } from './media/clock.ts';

const HEARTBEAT_MS = 10_000;
const RETRY_MS_MIN = 500;
const REQUEST_MS_MAX = 4000;

export interface NodeLoad {
  activeRooms: number;
  activeParticipants: number;
  cpuPercent: number;
  memoryPercent: number;
  networkInBps: number;
  networkOutBps: number;
  /** Of each media process, of one core. */
  coreCpuPercents: number[];
  packetsInPerSecond: number;
  packetsOutPerSecond: number;
  lossInPercent: number;
  lossOutPercent: number;
  /** Since the last reading. */
  dataDropped: number;
}

export interface NodeRecord {
  name: string;
  region: string;
  publicHost: string;
  internalUrl: string;
  capacity: number;
  version?: string;
}

/** What registrations and heartbeats are answered with, as far as a node uses it. */
export interface FleetAnswer {
  isDraining: boolean;
  /** The address that the control plane sees us at; null from one that does not say. */
  observedAddress: string | null;
}

export interface RegistrationDeps {
  controlUrl: string;
  secret: string;
  /** As it is now; another public host than the registered one is reported by heartbeat. */
  record(): NodeRecord;
  clock: MediaClock;
  load(): NodeLoad;
  onAnswer(answer: FleetAnswer): Promise<void>;
  onRegistered(): void;
  onProblem(problem: string): void;
}

export interface Registration {
  /** Says now and from now on that no room may come. */
  leave(): Promise<void>;
  /** The node is about to end: the control plane moves who is left, and forgets it. */
  deregister(): Promise<void>;
  stop(): void;
}

/** Registers, then heartbeats; registers again whenever the control plane does not know the node. */
export function startRegistration(deps: RegistrationDeps): Registration {
  const { controlUrl, secret } = deps;
  const { name } = deps.record();
  let isStopped = false;
  let isLeaving = false;
  let registeredHost: string | null = null;
  let hasAskedForAddress = false;
  let retryMs = RETRY_MS_MIN;
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();

  async function call(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${controlUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    });
  }

  async function register(): Promise<void> {
    const record = deps.record();
    const response = await call('POST', '/v1/rtc/servers/register', record);
    if (response.status === 409) await learnAddress();
    if (!response.ok) throw new Error(`registration was answered ${response.status}: ${await response.text()}`);
    registeredHost = record.publicHost;
    await deps.onAnswer(readAnswer(await response.json()));
    deps.onRegistered();
  }

  /**
   * The row may be ours, from before a crash, with an address that only the control plane's answers tell. Asked once: the
   * heartbeats of a stranger would keep a dead row alive.
   */
  async function learnAddress(): Promise<void> {
    if (hasAskedForAddress) return;
    hasAskedForAddress = true;
    const response = await call('PUT', `/v1/rtc/servers/${name}/heartbeat`, deps.load());
    if (response.ok) await deps.onAnswer(readAnswer(await response.json()));
  }

  async function heartbeat(): Promise<void> {
    const { publicHost } = deps.record();
    const response = await call('PUT', `/v1/rtc/servers/${name}/heartbeat`, {
      ...deps.load(),
      ...(isLeaving && { leaving: true }),
      ...(publicHost !== registeredHost && { publicHost }),
    });
    if (response.status === 404) {
      registeredHost = null;
      return;
    }
    if (!response.ok) throw new Error(`heartbeat was answered ${response.status}: ${await response.text()}`);
    registeredHost = publicHost;
    await deps.onAnswer(readAnswer(await response.json()));
  }

  async function beat(): Promise<void> {
    let waitMs = HEARTBEAT_MS;
    try {
      if (registeredHost === null) await register();
      await heartbeat();
      if (registeredHost !== deps.record().publicHost) waitMs = RETRY_MS_MIN;
      retryMs = RETRY_MS_MIN;
    } catch (error) {
      if (!isStopped) deps.onProblem(problemOf(error));
      retryMs = Math.min(HEARTBEAT_MS, retryMs * 2);
      waitMs = retryMs;
    }
    if (!isStopped) timer = setTimeout(beatNow, waitMs);
  }

  function beatNow(): Promise<void> {
    clearTimeout(timer);
    beating = beating.then(beat);
    return beating;
  }

  function stop(): void {
    isStopped = true;
    clearTimeout(timer);
  }

  void beatNow();
  return {
    stop,
    async leave() {
      isLeaving = true;
      await beatNow();
    },
    async deregister() {
      stop();
      await beating;
      // The row of a name that was refused to us is another node's.
      if (registeredHost === null) return;
      const response = await call('DELETE', `/v1/rtc/servers/${name}`).catch(problemOf);
      if (typeof response === 'string') deps.onProblem(response);
      else if (!response.ok && response.status !== 404)
        deps.onProblem(`deregistration was answered ${response.status}: ${await response.text()}`);
    },
  };
}

function readAnswer(answer: unknown): FleetAnswer {
  const { draining, observedAddress } = Object(answer) as { draining?: unknown; observedAddress?: unknown };
  return {
    isDraining: draining === true,
    observedAddress: typeof observedAddress === 'string' ? observedAddress : null,
  };
}

/** `fetch failed` says nothing; its cause does. */
function problemOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
