interface Running {
  stop(): Promise<void>;
}

const running: Running[] = [];
let isWorker = false;

/** Says that this process calls `stopShared` at its end. */
export function beWorker(): void {
  isWorker = true;
}

/** Whether what is left running is stopped: plain scripts stop what they start. */
export const hasWorkerEnd = (): boolean => isWorker;

/** What was started last is stopped first: it stands on the others. */
export function stopAtWorkerEnd(thing: Running): void {
  running.unshift(thing);
}

/** Starts it for the first that asks in this test worker; later callers get the same one, and the worker stops it. */
export function oncePerWorker<T extends Running>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null;
  async function startFirst(): Promise<T> {
    const thing = await start();
    stopAtWorkerEnd(thing);
    return thing;
  }
  return () => (started ??= startFirst());
}

export async function stopShared(): Promise<void> {
  for (let thing = running.shift(); thing; thing = running.shift()) await thing.stop();
}
