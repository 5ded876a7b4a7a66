import { checkHistory } from '../../../apps/server/testkit/chat/history-checker.ts';
import type { Answer, Kind, Observation } from './observation.ts';

/**
 * The invariants of the failure policy. Each returns what violates it: empty when it holds.
 * `invariants.test.ts` shows that each can fail.
 */
export type Invariant = (seen: Observation) => string[];

/** The longest a caller waits for the answer that a dependency is down. */
const refusalMsMax = 2_000;
const shown = 5;

const some = (faults: readonly string[]): string[] =>
  faults.length <= shown ? [...faults] : [...faults.slice(0, shown), `and ${faults.length - shown} more`];

const describeAnswer = ({ kind, process, status, code, ms }: Answer): string =>
  `${kind} at process ${process} answered ${status}${code ? ` ${code}` : ''} after ${Math.round(ms)} ms`;

const isGood = ({ status }: Answer): boolean => status >= 200 && status < 300;

/** Asked and answered while the fault lasted, not at its edges. */
const within = ({ answers, fault }: Observation, kinds: readonly Kind[], edgeMs = 0): Answer[] =>
  answers.filter(({ kind, at, ms }) => kinds.includes(kind) && at >= fault.from + edgeMs && at + ms <= fault.to);

/** Everything the fault may have affected: requests in flight at its start and end, and those made afterwards. */
const touched = ({ answers, fault }: Observation, kinds: readonly Kind[], afterMs = Number.POSITIVE_INFINITY) =>
  answers.filter(({ kind, at, ms }) => kinds.includes(kind) && at + ms >= fault.from && at <= fault.to + afterMs);

const atLeastOne = (answers: readonly Answer[], kinds: readonly Kind[]): string[] =>
  kinds.filter((kind) => !answers.some((one) => one.kind === kind)).map((kind) => `no request of kind ${kind}`);

/** No acknowledged write is lost, duplicated or out of order; every subscriber received exactly what is stored. */
export const nothingLost: Invariant = ({ log, history, sightings, followerFaults }) => {
  if (!log.some(({ is }) => is === 'ok')) return ['nothing was acknowledged'];
  const findings = checkHistory(log, history, sightings).map(({ rule, detail }) => `${rule}: ${detail}`);
  return some([...followerFaults, ...findings]);
};

/** Every event ends DELIVERED or FAILED under one id, and none is tried before its backoff. */
export const webhooksKept: Invariant = ({ webhooks: { delivered, failed, ...wrong } }) => [
  ...(delivered + failed === 0 ? ['nothing was delivered'] : []),
  ...Object.entries(wrong).flatMap(([what, count]) => (count > 0 ? [`${count} webhooks ${what}`] : [])),
];

/** These keep working, also at the start and end of the fault and for `afterMs`; none takes longer than this. */
export const keptWorking =
  (kinds: readonly Kind[], msMax: number, afterMs?: number): Invariant =>
  (seen) => {
    const asked = touched(seen, kinds, afterMs);
    return some([
      ...atLeastOne(within(seen, kinds), kinds),
      ...asked.filter((answer) => !isGood(answer) || answer.ms > msMax).map(describeAnswer),
    ]);
  };

/**
 * These are refused with 503 and Retry-After, within two seconds, and never acknowledged. A request within `edgeMs` of
 * the start may still succeed; `quick` checks those, and requests in flight at the end.
 */
export const refused =
  (kinds: readonly Kind[], codes: readonly string[], edgeMs = 0): Invariant =>
  (seen) => {
    const asked = within(seen, kinds, edgeMs);
    const isRight = ({ status, code, hasRetryAfter, ms }: Answer): boolean =>
      status === 503 && codes.includes(code ?? '') && hasRetryAfter && ms <= refusalMsMax;
    return some([...atLeastOne(asked, kinds), ...asked.filter((answer) => !isRight(answer)).map(describeAnswer)]);
  };

/** These are done or refused for now, and either is said soon: also when it begins, ends and is over. */
export const quick =
  (kinds: readonly Kind[], msMax = refusalMsMax): Invariant =>
  (seen) => {
    const asked = touched(seen, kinds);
    const isRight = (answer: Answer): boolean =>
      (isGood(answer) || (answer.status === 503 && answer.hasRetryAfter)) && answer.ms <= msMax;
    return some([
      ...atLeastOne(within(seen, kinds), kinds),
      ...asked.filter((answer) => !isRight(answer)).map(describeAnswer),
    ]);
  };

/** The process says that it lives, all the time. */
export const staysHealthy: Invariant = ({ answers }) => {
  const asked = answers.filter(({ kind }) => kind === 'healthz');
  return some([...atLeastOne(asked, ['healthz']), ...asked.filter((answer) => !isGood(answer)).map(describeAnswer)]);
};

/** The process says that it takes no work while the fault lasts. */
export const saysNotReady: Invariant = (seen) => {
  const asked = within(seen, ['readyz'], refusalMsMax);
  return some([...atLeastOne(asked, ['readyz']), ...asked.filter(({ status }) => status !== 503).map(describeAnswer)]);
};

export const socketsStay: Invariant = ({ closedSockets }) =>
  some(closedSockets.map((socket) => `${socket} was closed`));

export const noExit: Invariant = ({ exits }) => [...exits];

/** Media never pauses for longer than this, from the fault's beginning until all have what they missed. */
export const mediaFlows =
  (gapMsMax: number, isConcerned: (call: string) => boolean = () => true): Invariant =>
  ({ media, fault, completeMs }) => {
    const untilMs = fault.to + completeMs;
    const calls = new Set(media.map(({ call }) => call).filter(isConcerned));
    if (calls.size === 0) return ['there was no call'];
    return [...calls].flatMap((name) => {
      const gap = longestGap(media.filter(({ call, at }) => call === name && at >= fault.from && at <= untilMs));
      return gap > gapMsMax ? [`${name} had no media for ${Math.round(gap)} ms`] : [];
    });
  };

function longestGap(samples: readonly { at: number; packets: number }[]): number {
  let [worst, since, packets] = [0, samples[0]?.at ?? 0, samples[0]?.packets ?? 0];
  for (const sample of samples) {
    if (sample.packets > packets) [since, packets] = [sample.at, sample.packets];
    worst = Math.max(worst, sample.at - since);
  }
  return samples.length < 2 ? Number.POSITIVE_INFINITY : worst;
}

/** From the end of the fault until every process does all of this again. */
export function backMs({ answers, fault }: Observation, kinds: readonly Kind[]): number {
  const asked = answers.filter(({ kind, at, ms }) => kinds.includes(kind) && at + ms >= fault.to);
  const lastBad = new Map<string, number>();
  const seen = new Set<string>();
  for (const answer of asked) {
    const place = `${answer.kind} ${answer.process}`;
    if (isGood(answer)) seen.add(place);
    else lastBad.set(place, Math.max(lastBad.get(place) ?? 0, answer.at + answer.ms));
  }
  if (seen.size === 0 || [...lastBad.keys()].some((place) => !seen.has(place))) return Number.POSITIVE_INFINITY;
  return Math.max(0, ...[...lastBad.values()].map((at) => at - fault.to));
}

export const backWithin =
  (kinds: readonly Kind[], msMax: number): Invariant =>
  (seen) => {
    const ms = backMs(seen, kinds);
    return ms > msMax ? [`${kinds.join(', ')} came back only after ${Math.round(ms)} ms`] : [];
  };

/** Every subscriber has everything this soon after the end. */
export const completeWithin =
  (msMax: number): Invariant =>
  ({ completeMs }) =>
    completeMs > msMax ? [`subscribers were complete only after ${Math.round(completeMs)} ms`] : [];

/** Nothing but these statuses is ever answered, at any time: a fault outside is no bug inside. */
export const onlyStatuses =
  (...allowed: readonly number[]): Invariant =>
  ({ answers }) =>
    some(answers.filter((answer) => !isGood(answer) && !allowed.includes(answer.status)).map(describeAnswer));

/** A measured figure between these. */
export const fact =
  (name: string, min: number, max: number): Invariant =>
  ({ facts }) => {
    const value = facts[name];
    if (value === undefined) return [`${name} was not measured`];
    return value < min || value > max ? [`${name} is ${value}, not ${min} to ${max}`] : [];
  };
