import type { Adapters } from '../../src/core/ports.ts';
import { createHeldReplica, type HeldReplica } from './held-replica.ts';
import type { TestService } from './service.ts';

/** How many reads the replica answered, and how many it left to the primary. */
export type Answers = Record<'replica' | 'behind' | 'away', number>;

export const fromReplica: Answers = { replica: 1, behind: 0, away: 0 };
export const fromPrimary: Answers = { replica: 0, behind: 1, away: 0 };

/** A replica that the test holds; a service started with `wrap` reads from it. */
export interface ReplicaStage {
  wrap(adapters: Adapters): Adapters;
  setAway(isAway: boolean): void;
  /** Nothing more is replayed while `work` runs. */
  whileHeld(work: () => Promise<void>, options?: Parameters<HeldReplica['hold']>[0]): Promise<void>;
  /** What the reads of `work` gave, and who answered them. */
  follow<T>(service: Pick<TestService, 'fetch'>, work: () => Promise<T>): Promise<{ got: T; by: Answers }>;
  close(): Promise<void>;
}

export function createReplicaStage(adminUrl: string): ReplicaStage {
  let made: HeldReplica | undefined;
  const replica = (): HeldReplica => {
    if (!made) throw new Error('no service was started on it');
    return made;
  };
  return {
    wrap(adapters) {
      made = createHeldReplica(adapters.db, adminUrl);
      return { ...adapters, replica: made };
    },
    setAway: (isAway) => replica().setAway(isAway),
    async whileHeld(work, options) {
      await replica().hold(options);
      try {
        await work();
      } finally {
        await replica().release();
      }
    },
    async follow(service, work) {
      const before = await countAnswers(service);
      const got = await work();
      const now = await countAnswers(service);
      const since = (name: keyof Answers): number => now[name] - before[name];
      return { got, by: { replica: since('replica'), behind: since('behind'), away: since('away') } };
    },
    close: async () => made?.close(),
  };
}

async function countAnswers(service: Pick<TestService, 'fetch'>): Promise<Answers> {
  const text = await (await service.fetch('/metrics')).text();
  const of = (result: string): number =>
    Number(new RegExp(`parley_replica_reads_total\\{result="${result}"\\} (\\d+)`).exec(text)?.[1]);
  return { replica: of('replica'), behind: of('behind'), away: of('away') };
}
