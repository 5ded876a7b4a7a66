import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeKind, Environment } from '@parley/contract';
import { createCoalescer } from './coalescer.ts';
import type { Bus, Unsubscribe } from './ports.ts';

/** Where something changed; null: in both environments. */
interface ChangeScope {
  projectId: string;
  environment: Environment | null;
}

/** Tells open dashboards, over all processes, what kind of thing changed. Best effort: they read again after a gap. */
export interface Changes {
  /** Without a scope it is the instance's, and every dashboard is told. Returns at once and never throws. */
  note(kind: ChangeKind, scope: ChangeScope | null): void;
  watch(
    scope: { projectId: string; environment: Environment },
    listener: (kinds: readonly ChangeKind[]) => void,
  ): Promise<Unsubscribe>;
}

interface Change {
  kind: ChangeKind;
  environment: Environment | null;
}

/** What comes while a topic rests waits for its end, and is one message. */
const restMs = 250;

const topicOf = (projectId: string | undefined): string => `changes/${projectId ?? 'instance'}`;

interface ChangesDeps {
  bus: Bus;
  /** Real time, also where a test has one of its own: it is only between us and who looks. */
  rest?: () => Promise<unknown>;
}

const defaultRest = (): Promise<unknown> => sleep(restMs, undefined, { ref: false });

export function createChanges({ bus, rest = defaultRest }: ChangesDeps): Changes {
  const coalescer = createCoalescer<string, Map<string, Change>>({
    newPending: () => new Map(),
    publish: (topic, changes) => bus.publish(topic, [...changes.values()]),
    rest,
    first: 'now',
  });

  return {
    note(kind, scope) {
      const change = { kind, environment: scope?.environment ?? null };
      coalescer.note(topicOf(scope?.projectId), (changes) => changes.set(`${kind}/${change.environment}`, change));
    },

    async watch({ projectId, environment }, listener) {
      const receive = (message: unknown): void => {
        // Only our own processes publish here.
        const here = (message as Change[]).filter((one) => one.environment === null || one.environment === environment);
        if (here.length > 0) listener([...new Set(here.map(({ kind }) => kind))]);
      };
      const unsubscribe = await Promise.all(
        [topicOf(projectId), topicOf(undefined)].map((topic) => bus.subscribe(topic, receive)),
      );
      return () => {
        for (const leave of unsubscribe) leave();
      };
    },
  };
}
