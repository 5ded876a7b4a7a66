/** One video track that a subscriber wants, as the allocator sees it. */
export interface Demand {
  /** Bits per second of each layer, lowest first. */
  bitrates: readonly number[];
  /** Highest layer useful to this subscriber, by size, settings and what the publisher sends; -1 for none. */
  ceiling: number;
  /** Layer being sent now; -1 when paused. */
  current: number;
  priority: number;
}

interface Allocation {
  /** Layer for each demand; -1 pauses it. */
  layers: number[];
  /** Total bandwidth the next step up would need; 0 when every demand is met. */
  wantedBps: number;
}

/** Going up needs this much more than the layer itself, so that a layer at the limit does not flap. */
const UP_MARGIN = 1.1;

/**
 * Shares a budget by priority: first the lowest layer of each demand, then one layer up at a time in the same order.
 * A demand whose lowest layer does not fit is paused, except the first.
 */
export function allocate(demands: readonly Demand[], budgetBps: number): Allocation {
  const order = demands.map((_, index) => index).sort((a, b) => rank(demands[b]) - rank(demands[a]) || a - b);
  const layers = demands.map(() => -1);
  let left = budgetBps;
  let used = 0;
  let wantedBps = 0;
  for (let level = 0; order.some((index) => (demands[index]?.ceiling ?? -1) >= level); level += 1) {
    for (const index of order) {
      const demand = demands[index];
      if (!demand || demand.ceiling < level || layers[index] !== level - 1) continue;
      const cost = (demand.bitrates[level] ?? 0) - (level === 0 ? 0 : (demand.bitrates[level - 1] ?? 0));
      const isKept = level <= demand.current;
      // The video of highest priority is never paused: a slow picture is better than none.
      const isLast = level === 0 && index === order[0];
      if (isLast || cost * (isKept ? 1 : UP_MARGIN) <= left) {
        layers[index] = level;
        left -= cost;
        used += cost;
      } else if (wantedBps === 0) wantedBps = used + cost * UP_MARGIN;
    }
  }
  return { layers, wantedBps };
}

const rank = (demand: Demand | undefined): number => demand?.priority ?? 0;

/**
 * The lowest layer that fills the element: one is enough when its height reaches four fifths of what is shown.
 * Undeclared heights are assumed to halve downward from the top.
 */
export function layerForSize(heights: readonly (number | null)[], wantedHeight: number | undefined): number {
  const top = heights.length - 1;
  if (wantedHeight === undefined) return top;
  const topHeight = heights[top] ?? 720;
  const index = heights.findIndex((height, at) => (height ?? topHeight / 2 ** (top - at)) >= wantedHeight * 0.8);
  return index < 0 ? top : index;
}
