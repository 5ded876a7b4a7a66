import type { Bus } from './ports.ts';

/** Whether messages can be lost without a sign: between processes they can, in one process they cannot. */
export const isLossy = (bus: Pick<Bus, 'ping'>): Promise<boolean> =>
  bus.ping().then(
    (roundTripMs) => roundTripMs !== null,
    () => true,
  );
