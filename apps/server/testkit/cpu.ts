/** How much CPU of this process `left` takes for each unit that `right` takes: medians of interleaved runs. */
export async function cpuRatio(left: () => Promise<unknown>, right: () => Promise<unknown>): Promise<number> {
  const rounds = 9;
  const costs: [number, number][] = [];
  await left();
  await right();
  for (let round = 0; round < rounds; round++) costs.push([await cpuOf(left), await cpuOf(right)]);
  return median(costs.map(([cost]) => cost)) / median(costs.map(([, cost]) => cost));
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
