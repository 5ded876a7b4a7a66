type Stop = () => Promise<unknown>;

/** What `start` has begun is ended, last first, when it fails; otherwise by `stop`. */
export async function stoppable<T extends object>(
  start: (onStop: (stop: Stop) => void) => Promise<T>,
): Promise<T & { stop(): Promise<void> }> {
  const stops: Stop[] = [];
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    return { ...(await start((one) => stops.push(one))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
