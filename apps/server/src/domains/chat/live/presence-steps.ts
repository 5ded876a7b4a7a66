import { createBatcher } from '../../../core/batcher.ts';

/** A connection's place in a conversation, as far as it matters here. */
interface PresenceKey {
  conversationId: string;
  connectionId: string;
}

interface PresenceStepsDeps<Place> {
  enterAll: (places: readonly Place[]) => Promise<void>;
  leaveAll: (places: readonly Place[]) => Promise<void>;
}

interface Step<Place> {
  kind: 'enter' | 'leave';
  place: Place;
}

type Outcome = PromiseSettledResult<void>;

/** One queue of who enters and who leaves: those of one turn of the loop together, and each connection in its order. */
export function createPresenceSteps<Place extends PresenceKey>({ enterAll, leaveAll }: PresenceStepsDeps<Place>) {
  const steps = createBatcher<Step<Place>, Outcome>({
    batchMax: Number.POSITIVE_INFINITY,
    waitingMax: Number.POSITIVE_INFINITY,
    write,
  });

  async function write(batch: readonly Step<Place>[]): Promise<Outcome[]> {
    const outcomes = new Map<Step<Place>, Outcome>();
    const run = async (some: readonly Step<Place>[], handle: typeof enterAll): Promise<void> => {
      if (some.length === 0) return;
      const [outcome] = await Promise.allSettled([handle(some.map(({ place }) => place))]);
      for (const step of some) outcomes.set(step, outcome);
    };
    for (const { entering, leaving } of phasesOf(batch)) {
      await run(entering, enterAll);
      await run(leaving, leaveAll);
    }
    return batch.map((step) => outcomes.get(step) ?? { status: 'fulfilled', value: undefined });
  }

  async function add(kind: Step<Place>['kind'], place: Place): Promise<void> {
    const outcome = await steps.add({ kind, place });
    if (outcome.status === 'rejected') throw outcome.reason;
  }

  return {
    enter: (place: Place): Promise<void> => add('enter', place),
    leave: (place: Place): Promise<void> => add('leave', place),
  };
}

interface Phase<Place> {
  entering: Step<Place>[];
  leaving: Step<Place>[];
}

/** In each, who enters comes first, so that a user who changes tabs stays; a connection that comes back has the next. */
function phasesOf<Place extends PresenceKey>(steps: readonly Step<Place>[]): Phase<Place>[] {
  const left = new Set<string>();
  let phase: Phase<Place> = { entering: [], leaving: [] };
  const phases = [phase];
  for (const step of steps) {
    const { conversationId, connectionId } = step.place;
    const key = `${conversationId}/${connectionId}`;
    if (step.kind === 'leave') {
      left.add(key);
      phase.leaving.push(step);
      continue;
    }
    if (left.has(key)) {
      left.clear();
      phase = { entering: [], leaving: [] };
      phases.push(phase);
    }
    phase.entering.push(step);
  }
  return phases;
}
