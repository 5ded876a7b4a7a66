import { figure, isRow } from './ratio.ts';
import type { Result } from './results.ts';

export type ReadResult = (name: string) => Result | null;

export type Say = ReturnType<typeof sayerOf>;

/** Writes with figures, each named as `benchmark/figure`; nothing where one of them was not measured. */
export function sayerOf(read: ReadResult) {
  return <const K extends readonly string[]>(
    keys: K,
    write: (...values: { [I in keyof K]: number }) => string,
  ): string => {
    const values = keys.map((key) => figureOf(read, key));
    return values.includes(null) ? '' : write(...(values as { [I in keyof K]: number }));
  };
}

/** Every figure is a cost or a rate: one that is not above zero was lost in the noise, and nothing can be divided by it. */
function figureOf(read: ReadResult, key: string): number | null {
  const [name = '', wanted = ''] = key.split('/');
  const rows = read(name)?.rows.filter(isRow) ?? [];
  const value = rows.map(({ figures }) => figures?.[wanted]).find((one) => one !== undefined) ?? 0;
  return value > 0 ? value : null;
}

/** Rows whose first figure is known. */
export const known = (rows: readonly string[][]): string[][] => rows.filter(([, first]) => first !== '');

/** Sentences that have something to say, in a paragraph. */
export const paragraph = (...sentences: string[]): string => sentences.filter(Boolean).join(' ');

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `${[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;

export const percent = (share: number): string => `${figure(share * 100)} %`;
/** Two digits: more would suggest a precision that is not there. */
export const about = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en');
