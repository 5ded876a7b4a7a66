import type { CredentialSource } from '../credential.ts';
import type { Runtime } from '../runtime.ts';

export interface Telemetry {
  /** One step of the connection; `type` is one of the contract's connection events. */
  note(type: string, data?: Record<string, unknown>): void;
  flush(): void;
  /** Forgets what was not sent. */
  drop(): void;
}

const FLUSH_MS = 2_000;
const WAITING_MAX = 100;

/** Connection steps for the dashboard. Best effort: what cannot be sent is dropped silently. */
export function createTelemetry({
  baseUrl,
  credential,
  runtime,
  connectionId,
}: {
  baseUrl: string;
  credential: Pick<CredentialSource, 'get'>;
  runtime: Runtime;
  connectionId: string;
}): Telemetry {
  let waiting: object[] = [];
  let cancel: (() => void) | null = null;

  function flush(): void {
    const events = waiting;
    drop();
    if (events.length > 0) post(events).catch(() => {});
  }

  function drop(): void {
    cancel?.();
    cancel = null;
    waiting = [];
  }

  async function post(events: readonly object[]): Promise<void> {
    const authorization = `Bearer ${await credential.get()}`;
    const headers = { authorization, 'content-type': 'application/json' };
    for (const event of events) {
      const body = JSON.stringify(event);
      // Not waited for one by one: the page may be about to close.
      runtime
        .fetch(`${baseUrl}/v1/telemetry/events`, { method: 'POST', headers, body, keepalive: true })
        .catch(() => {});
    }
  }

  return {
    note(type, data) {
      if (waiting.length >= WAITING_MAX) return;
      waiting.push({ connectionId, type, timestamp: new Date().toISOString(), ...(data && { data }) });
      cancel ??= runtime.setTimer(flush, FLUSH_MS);
    },
    flush,
    drop,
  };
}

export const noTelemetry: Telemetry = { note() {}, flush() {}, drop() {} };
