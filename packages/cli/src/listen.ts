import { setTimeout as pause } from 'node:timers/promises';
import { newWebhookSecret, readEvents, type StreamEvent, signWebhook } from '@parley/server';
import { type Account, findAccount } from './account.ts';
import { accountOptions, type Command, type Context, jsonOption, UsageError } from './command.ts';

const attemptMs = 5_000;
const waitsMs = [500, 1_000, 2_000, 5_000, 10_000] as const;

/** The service said no, and will again: there is no use in asking on. */
class Refused extends Error {}

export const listen: Command = {
  does: 'Forwards the events of your development project to a receiver on your machine, signed like real deliveries.',
  usage: '--forward-to <url> [options]',
  options: {
    'forward-to': { type: 'string', means: 'Where to post events, e.g. http://localhost:3000/hooks.' },
    events: { type: 'string', means: 'Only these types, comma separated.' },
    secret: { type: 'string', means: 'Signing secret to use; a new one is made and shown without it.' },
    ...accountOptions,
    ...jsonOption,
  },

  async run(values, context) {
    const target = String(values['forward-to'] ?? '');
    if (!URL.canParse(target) || !/^https?:$/.test(new URL(target).protocol))
      throw new UsageError('Where should events go? Give --forward-to with an http(s) URL.');
    const account = findAccount(values, context);
    const secret = String(values['secret'] ?? newWebhookSecret());
    const report = createReport(context, values['json'] === true);
    report.ready({ from: account.url, to: target, secret });
    try {
      await forwardUntilStopped({
        account,
        target,
        secret,
        types: String(values['events'] ?? ''),
        report,
        signal: context.signal,
      });
      return 0;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      context.error(error.message);
      return 1;
    }
  },
};

interface Forwarding {
  account: Account;
  target: string;
  secret: string;
  types: string;
  report: ReturnType<typeof createReport>;
  signal: AbortSignal;
}

/** Reads the stream until stopped; after a lost connection it resumes after the last event. */
async function forwardUntilStopped(job: Forwarding): Promise<void> {
  let lastEventId: string | null = null;
  for (let failures = 0; !job.signal.aborted; ) {
    try {
      for await (const event of openStream(job, lastEventId)) {
        failures = 0;
        lastEventId = event.id;
        job.report.forwarded(event, await forward(job, event));
      }
    } catch (error) {
      if (job.signal.aborted) return;
      if (error instanceof Refused) throw error;
      job.report.lost(error);
    }
    const wait = waitsMs[Math.min(failures++, waitsMs.length - 1)] ?? 0;
    await pause(wait, undefined, { signal: job.signal }).catch(() => {});
  }
}

async function* openStream(
  { account, types, signal }: Forwarding,
  lastEventId: string | null,
): AsyncGenerator<StreamEvent> {
  const response = await fetch(`${account.url}/v1/events${types === '' ? '' : `?types=${encodeURIComponent(types)}`}`, {
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    },
    signal,
  });
  if (!response.ok) {
    const { code, message } = (await response.json()) as { code: string; message: string };
    if (response.status >= 500 || response.status === 429) throw new Error(message);
    throw new Refused(`${code}: ${message}`);
  }
  if (response.body) yield* readEvents(response.body);
}

interface ForwardResult {
  status: number | null;
  error: string | null;
  durationMs: number;
}

/** One attempt, with the headers of a real one. What the receiver answers is shown, not retried. */
async function forward({ target, secret, signal }: Forwarding, event: StreamEvent): Promise<ForwardResult> {
  const startedMs = performance.now();
  const result = (status: number | null, error: string | null): ForwardResult => ({
    status,
    error,
    durationMs: Math.round(performance.now() - startedMs),
  });
  try {
    const response = await fetch(target, {
      method: 'POST',
      body: event.data,
      redirect: 'manual',
      headers: {
        ...signWebhook(event.data, secret),
        'content-type': 'application/json',
        'user-agent': 'svc-webhooks/1',
        'svc-delivery-id': event.id.replace('evt_', 'whd_'),
        'svc-attempt': '1',
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]),
    });
    await response.arrayBuffer();
    return result(response.status, null);
  } catch (error) {
    const { cause, message } = error as Error;
    return result(null, cause instanceof Error ? cause.message : message);
  }
}

/** What the user sees: lines for people, or one JSON object each for programs. */
function createReport({ out, error }: Context, isJson: boolean) {
  const say = (fields: object, text: string) => out(isJson ? JSON.stringify(fields) : text);
  return {
    ready: (fields: { from: string; to: string; secret: string }) =>
      say(
        fields,
        `Forwarding events of ${fields.from} to ${fields.to}\nSigning secret: ${fields.secret}\nStop with Ctrl+C.\n`,
      ),
    forwarded: ({ id, type }: StreamEvent, { status, error: problem, durationMs }: ForwardResult) =>
      say(
        { id, type, status, error: problem, durationMs },
        `${new Date().toISOString().slice(11, 19)}  ${type.padEnd(26)} ${id}  ${status ?? problem}  ${durationMs} ms`,
      ),
    lost: (problem: unknown) => error(`The service is not there (${(problem as Error).message}). Trying again.`),
  };
}
