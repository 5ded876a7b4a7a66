import type { Layer } from './layer.ts';

/** How much more a layer takes than one above it, when they are the wrong way round: the rate of a layer varies. */
const CLEARLY = 1.5;

/**
 * The layers by what they take, lowest first; as they are where that is not clear. Layers that have not come for long
 * enough keep their places.
 */
export function orderByRate(layers: readonly Layer[], now: number): readonly Layer[] {
  const known = layers.filter((layer) => isKnown(layer, now));
  const isWrong = known.some((layer, index) =>
    known.slice(index + 1).some((above) => rateOf(layer) >= rateOf(above) * CLEARLY),
  );
  if (!isWrong) return layers;
  const ordered = known.toSorted((a, b) => rateOf(a) - rateOf(b));
  return layers.map((layer) => (known.includes(layer) ? (ordered.shift() ?? layer) : layer));
}

export const isKnown = (layer: Layer, now: number): boolean =>
  layer.upstream?.rate.isSteady === true && layer.isOn(now);

const rateOf = ({ upstream }: Layer): number => upstream?.rate.bitrate ?? 0;
