import { checkHistory } from '../../../apps/server/testkit/chat/history-checker.ts';
import type { Answer, Kind, Observation } from './observation.ts';

/**
 * The bars of the failure policy, each a judgement of what was seen: empty when it holds, otherwise what is wrong.
 * `bars.test.ts` shows that each can fail.
 */
export type Bar = (seen: Observation) => string[];

/** The longest a caller waits to hear that a dependency is gone. */
const refusalMsMax = 2_000;
const shown = 5;

const some = (faults: readonly string[]): string[] =>
  faults.length <= shown ? [...faults] : [...faults.slice(0, shown), `and ${faults.length - shown} more`];

const told = ({ kind, process, status, code, ms }: Answer): string =>
  `${kind} at process ${process} answered ${status}${code ? ` ${code}` : ''} after ${Math.round(ms)} ms`;

const isGood = ({ status }: Answer): boolean => status >= 200 && status < 300;

/** Asked and answered while the fault lasted, not at its edges. */
const within = ({ answers, fault }: Observation, kinds: readonly Kind[], edgeMs = 0): Answer[] =>
  answers.filter(({ kind, at, ms }) => kinds.includes(kind) && at >= fault.from + edgeMs && at + ms <= fault.to);

/** All it may have touched: what was under way when it began, when it ended, and what was asked afterwards. */
const touched = ({ answers, fault }: Observation, kinds: readonly Kind[], afterMs = Number.POSITIVE_INFINITY) =>
  answers.filter(({ kind, at, ms }) => kinds.includes(kind) && at + ms >= fault.from && at <= fault.to + afterMs);

const atLeastOne = (answers: readonly Answer[], kinds: readonly Kind[]): string[] =>
  kinds.filter((kind) => !answers.some((one) => one.kind === kind)).map((kind) => `nobody asked for ${kind}`);

/** No acknowledged write is lost, doubled or out of order; everybody who listened heard exactly what is stored. */
export const nothingLost: Bar = ({ log, history, sightings, followerFaults }) => {
  if (!log.some(({ is }) => is === 'ok')) return ['nothing was acknowledged'];
  const findings = checkHistory(log, history, sightings).map(({ rule, detail }) => `${rule}: ${detail}`);
  return some([...followerFaults, ...findings]);
};

/** Every event ends DELIVERED or FAILED under one id, and none is tried before its backoff. */
export const webhooksKept: Bar = ({ webhooks: { delivered, failed, ...wrong } }) => [
  ...(delivered + failed === 0 ? ['nothing was delivered'] : []),
  ...Object.entries(wrong).flatMap(([what, count]) => (count > 0 ? [`${count} webhooks ${what}`] : [])),
];

/** These go on as if nothing had happened, also when it begins, ends and for `afterMs`; none takes longer than this. */
export const keptWorking =
  (kinds: readonly Kind[], msMax: number, afterMs?: number): Bar =>
  (seen) => {
    const asked = touched(seen, kinds, afterMs);
    return some([
      ...atLeastOne(within(seen, kinds), kinds),
      ...asked.filter((answer) => !isGood(answer) || answer.ms > msMax).map(told),
    ]);
  };

/**
 * These are refused with 503 and a time to come back, within two seconds, and never acknowledged. What is asked within
 * `edgeMs` of its beginning may still be done; `quick` judges that, and what the end overtakes.
 */
export const refused =
  (kinds: readonly Kind[], codes: readonly string[], edgeMs = 0): Bar =>
  (seen) => {
    const asked = within(seen, kinds, edgeMs);
    const isRight = ({ status, code, hasRetryAfter, ms }: Answer): boolean =>
      status === 503 && codes.includes(code ?? '') && hasRetryAfter && ms <= refusalMsMax;
    return some([...atLeastOne(asked, kinds), ...asked.filter((answer) => !isRight(answer)).map(told)]);
  };

/** These are done or refused for now, and either is said soon: also when it begins, ends and is over. */
export const quick =
  (kinds: readonly Kind[], msMax = refusalMsMax): Bar =>
  (seen) => {
    const asked = touched(seen, kinds);
    const isRight = (answer: Answer): boolean =>
      (isGood(answer) || (answer.status === 503 && answer.hasRetryAfter)) && answer.ms <= msMax;
    return some([...atLeastOne(within(seen, kinds), kinds), ...asked.filter((answer) => !isRight(answer)).map(told)]);
  };

/** The process says that it lives, all the time. */
export const staysHealthy: Bar = ({ answers }) => {
  const asked = answers.filter(({ kind }) => kind === 'healthz');
  return some([...atLeastOne(asked, ['healthz']), ...asked.filter((answer) => !isGood(answer)).map(told)]);
};

/** The process says that it takes no work while the fault lasts. */
export const saysNotReady: Bar = (seen) => {
  const asked = within(seen, ['readyz'], refusalMsMax);
  return some([...atLeastOne(asked, ['readyz']), ...asked.filter(({ status }) => status !== 503).map(told)]);
};

export const socketsStay: Bar = ({ closedSockets }) => some(closedSockets.map((socket) => `${socket} was closed`));

export const noExit: Bar = ({ exits }) => [...exits];

/** Media never pauses for longer than this, from the fault's beginning until all have what they missed. */
export const mediaFlows =
  (gapMsMax: number, isConcerned: (call: string) => boolean = () => true): Bar =>
  ({ media, fault, completeMs }) => {
    const untilMs = fault.to + completeMs;
    const calls = new Set(media.map(({ call }) => call).filter(isConcerned));
    if (calls.size === 0) return ['nobody was in a call'];
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
  (kinds: readonly Kind[], msMax: number): Bar =>
  (seen) => {
    const ms = backMs(seen, kinds);
    return ms > msMax ? [`${kinds.join(', ')} came back only after ${Math.round(ms)} ms`] : [];
  };

/** Every subscriber has everything this soon after the end. */
export const completeWithin =
  (msMax: number): Bar =>
  ({ completeMs }) =>
    completeMs > msMax ? [`subscribers were complete only after ${Math.round(completeMs)} ms`] : [];

/** Nothing but these statuses is ever answered, at any time: a fault outside is no bug inside. */
export const onlyStatuses =
  (...allowed: readonly number[]): Bar =>
  ({ answers }) =>
    some(answers.filter((answer) => !isGood(answer) && !allowed.includes(answer.status)).map(told));

/** A measured figure between these. */
export const fact =
  (name: string, min: number, max: number): Bar =>
  ({ facts }) => {
    const value = facts[name];
    if (value === undefined) return [`${name} was not measured`];
    return value < min || value > max ? [`${name} is ${value}, not ${min} to ${max}`] : [];
  };
