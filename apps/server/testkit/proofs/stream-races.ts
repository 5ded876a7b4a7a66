import { createApi } from '@parley/server';
import { sql } from '../../src/core/sql.ts';
import { failure } from '../kit/failure.ts';
import type { TestService } from '../kit/service.ts';

/** How many callers a transition let through, and how many events it left, over all rounds. */
interface TransitionCounts {
  winners: number;
  events: number;
  /** Rounds in which it had not exactly one of each. */
  faulty: number;
}

type Action = 'startLiveStream' | 'endLiveStream';

/** Streams made by one key in a window. */
const streamsPerKey = 30;

/**
 * Callers at all processes start a stream at the same moment, then end it at the same moment. In every fourth round
 * the end does not wait for the start: then a start may lose to it, and the end still has one winner.
 */
export async function raceTransitions(options: {
  urls: readonly string[];
  service: TestService;
  rounds: number;
  callers: number;
}): Promise<{ start: TransitionCounts; end: TransitionCounts; cancelled: number }> {
  const { urls, service, rounds, callers } = options;
  const start = { winners: 0, events: 0, faulty: 0 };
  const end = { winners: 0, events: 0, faulty: 0 };
  let cancelled = 0;
  let key = '';
  const project = await service.newProject();

  async function race(streamId: string, action: Action): Promise<number> {
    const calls = Array.from({ length: callers }, (_, n) => {
      const api = createApi({ baseUrl: urls[n % urls.length] ?? '', credential: key });
      return api.call(action, { streamId });
    });
    const outcomes = await Promise.allSettled(calls);
    const losers = outcomes.filter((outcome) => outcome.status === 'rejected');
    for (const { reason } of losers) if (!failure('SVC_INVALID_STATE_TRANSITION')(reason)) throw reason;
    return outcomes.length - losers.length;
  }

  for (let round = 0; round < rounds; round++) {
    if (round % streamsPerKey === 0) key = await project.newKey('DEVELOPMENT');
    const body = { title: `Round ${round}`, hostIdentity: 'ada' };
    const won = { startLiveStream: 0, endLiveStream: 0 };
    const { id } = await service.as(key).call('createLiveStream', { body });
    const note = async (action: Action): Promise<void> => {
      won[action] = await race(id, action);
    };
    const isMixed = round % 4 === 3;
    if (!isMixed) await note('startLiveStream');
    const together: Action[] = isMixed ? ['startLiveStream', 'endLiveStream'] : ['endLiveStream'];
    // The first calls have a head start: each action has it in turn.
    await Promise.all((round % 8 === 7 ? together.toReversed() : together).map(note));
    const { startLiveStream: starts, endLiveStream: ended } = won;
    const events = await countEvents(service, id);
    const wasCancelled = isMixed && starts === 0;
    if (wasCancelled) cancelled += 1;
    add(start, starts, events['live_stream.started'] ?? 0, wasCancelled ? 0 : 1);
    add(end, ended, events['live_stream.ended'] ?? 0, 1);
  }
  return { start, end, cancelled };
}

function add(counts: TransitionCounts, winners: number, events: number, expected: number): void {
  counts.winners += winners;
  counts.events += events;
  if (winners !== expected || events !== expected) counts.faulty += 1;
}

async function countEvents({ adapters }: TestService, streamId: string): Promise<Record<string, number>> {
  const rows = await adapters.db.query<{ type: string; count: number }>(sql`
    select type, count(*)::int as count from events
    where type like 'live_stream.%' and data::json->>'streamId' = ${streamId} group by type`);
  return Object.fromEntries(rows.map(({ type, count }) => [type, count]));
}
