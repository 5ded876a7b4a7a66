import type { ProjectScope } from '../../../core/caller.ts';
import type { Bus, ExpiringSets, Unsubscribe } from '../../../core/ports.ts';

interface InterestDeps {
  bus: Bus;
  expiringSets: ExpiringSets;
}

/** Environments in which somebody follows an inbox, in whichever process. */
export type Interest = ReturnType<typeof createInterest>;

const set = 'inboxes';
const topic = 'inboxes';
/** Two refreshes may fail before others stop telling us. */
const ttlMs = 30_000;
const refreshEvery = 10;

export const keyOf = ({ projectId, environment }: ProjectScope): string => `${projectId}/${environment}`;

/**
 * What a process must know to leave out what nobody follows. Another process hears at once that it is wanted; should it
 * not, it reads so within a second.
 */
export function createInterest({ bus, expiringSets }: InterestDeps) {
  const here = new Set<string>();
  let elsewhere: ReadonlySet<string> = new Set<string>();
  let turn = 0;
  let stopListening: Unsubscribe = () => {};

  return {
    /** Asked with every message: one comparison while nobody follows an inbox. */
    isWanted: (scope: ProjectScope): boolean => {
      if (here.size === 0 && elsewhere.size === 0) return false;
      const key = keyOf(scope);
      return here.has(key) || elsewhere.has(key);
    },
    async begin(key: string): Promise<void> {
      here.add(key);
      bus.publish(topic, key);
      await expiringSets.touch(set, key, ttlMs);
    },
    end: (key: string): void => void here.delete(key),
    /** Once a second. */
    async refresh(): Promise<void> {
      if (turn++ % refreshEvery === 0 && here.size > 0) {
        const entries = [...here].map((member) => ({ set, member }));
        await expiringSets.touchAll(entries, ttlMs);
      }
      elsewhere = new Set((await expiringSets.members(set)).map(({ member }) => member));
    },
    async start(): Promise<void> {
      // Only our own processes publish here.
      stopListening = await bus.subscribe(topic, (key) => {
        elsewhere = new Set([...elsewhere, key as string]);
      });
    },
    stop: (): void => stopListening(),
  };
}
