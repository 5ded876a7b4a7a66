import { type UsageMeterName, type UsagePrices, usageMeterNames, usageMeters } from '@parley/contract';
import type { StoredPrices } from './price-store.ts';

/** Money is integers of a millionth: nothing is a float on its way. */
const decimals = 6;
const one = 10n ** BigInt(decimals);

export function microsOf(price: string): bigint {
  const [whole = '0', fraction = ''] = price.split('.');
  return BigInt(whole) * one + BigInt(fraction.padEnd(decimals, '0'));
}

export const moneyOf = (micros: bigint): string => `${micros / one}.${String(micros % one).padStart(decimals, '0')}`;

/** A price as it was meant: without the zeros at its end. */
const priceOf = (micros: bigint): string => moneyOf(micros).replace(/\.?0+$/, '');

/** Rounded half up, once: sums are of what was rounded, so that days, keys and the total agree to the last digit. */
export function costOf(meter: UsageMeterName, value: number, prices: StoredPrices | undefined): bigint {
  const micros = prices?.prices[meter];
  if (micros === undefined) return 0n;
  const per = BigInt(usageMeters[meter].per);
  return (BigInt(value) * BigInt(micros) * 2n + per) / (per * 2n);
}

export function toPrices(stored: StoredPrices | undefined): UsagePrices {
  const of = (meter: UsageMeterName): string | null => {
    const micros = stored?.prices[meter];
    return micros === undefined ? null : priceOf(BigInt(micros));
  };
  return {
    currency: stored?.currency ?? null,
    messages: of('messages'),
    minutes: of('minutes'),
    recordedMinutes: of('recordedMinutes'),
    storedBytes: of('storedBytes'),
    sentBytes: of('sentBytes'),
  };
}

/** Null: there are none any more. */
export function fromPrices({ currency, ...given }: UsagePrices): StoredPrices | null {
  if (currency === null) return null;
  const prices: StoredPrices['prices'] = {};
  for (const meter of usageMeterNames) {
    const price = given[meter];
    if (price !== null) prices[meter] = String(microsOf(price));
  }
  return { currency, prices };
}
