import type { MediaClock } from './media/clock.ts';

const HEARTBEAT_MS = 10_000;
const RETRY_MS_MIN = 500;
const REQUEST_MS_MAX = 5000;

export interface NodeLoad {
  activeRooms: number;
  activeParticipants: number;
  cpuPercent: number;
  memoryPercent: number;
  networkInBps: number;
  networkOutBps: number;
  /** Since the last reading. */
  dataDropped: number;
}

export interface RegistrationDeps {
  controlUrl: string;
  secret: string;
  record: { name: string; region: string; publicHost: string; internalUrl: string; capacity: number; version?: string };
  clock: MediaClock;
  load(): NodeLoad;
  onDraining(isDraining: boolean): void;
  onProblem(problem: string): void;
}

/** Registers, then heartbeats; registers again whenever the control plane does not know the node. */
export function startRegistration(deps: RegistrationDeps): { stop(): void } {
  const { controlUrl, secret, record } = deps;
  let isStopped = false;
  let isRegistered = false;
  let retryMs = RETRY_MS_MIN;
  let timer: NodeJS.Timeout | undefined;

  async function call(method: string, path: string, body: unknown): Promise<Response> {
    return fetch(`${controlUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
    });
  }

  async function register(): Promise<void> {
    const response = await call('POST', '/v1/rtc/servers/register', record);
    if (!response.ok) throw new Error(`registration was answered ${response.status}: ${await response.text()}`);
    isRegistered = true;
    readDraining(await response.json());
  }

  async function heartbeat(): Promise<void> {
    const response = await call('PUT', `/v1/rtc/servers/${record.name}/heartbeat`, deps.load());
    if (response.status === 404) {
      isRegistered = false;
      return;
    }
    if (!response.ok) throw new Error(`heartbeat was answered ${response.status}: ${await response.text()}`);
    readDraining(await response.json());
  }

  function readDraining(answer: unknown): void {
    if (typeof answer === 'object' && answer !== null && 'draining' in answer)
      deps.onDraining(answer.draining === true);
  }

  async function beat(): Promise<void> {
    let waitMs = HEARTBEAT_MS;
    try {
      if (!isRegistered) await register();
      if (isRegistered) await heartbeat();
      if (!isRegistered) waitMs = RETRY_MS_MIN;
      retryMs = RETRY_MS_MIN;
    } catch (error) {
      if (!isStopped) deps.onProblem(error instanceof Error ? error.message : String(error));
      retryMs = Math.min(HEARTBEAT_MS, retryMs * 2);
      waitMs = retryMs;
    }
    if (!isStopped) timer = setTimeout(beat, waitMs);
  }

  void beat();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
