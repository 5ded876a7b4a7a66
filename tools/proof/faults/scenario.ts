import { type Invariant, nothingLost, webhooksKept } from './invariants.ts';
import type { Kind } from './observation.ts';
import type { Scene, SceneOptions } from './scene.ts';

/** One fault and the invariants that must hold. */
export interface Scenario {
  title: string;
  options?: Omit<SceneOptions, 'log'>;
  /** What must be there before: more options, and how to clear up. */
  prepare?(): { options: Omit<SceneOptions, 'log'>; clear(): void };
  /** Causes it; `scale` shortens what takes long. */
  harm(scene: Scene, size: { scale: number; seed: number }): Promise<void>;
  invariants: Readonly<Record<string, Invariant>>;
  /** Every invariant must be found not to hold. */
  isBroken?: boolean;
}

export type Scenarios = Readonly<Record<string, Scenario>>;

/** What holds whatever happens. */
export const always = {
  'nothing acknowledged is lost, nothing is there twice, no gap': nothingLost,
  'webhooks end under one id, none early': webhooksKept,
};

/** What a service is for. */
export const core: readonly Kind[] = ['send', 'read', 'mint', 'join'];
