import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { Delayed } from './skeleton.tsx';

export interface Column<T> {
  head: string;
  cell: (row: T) => ReactNode;
  /** Width as CSS, kept while loading too. */
  width?: string;
  align?: 'end';
}

interface TableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  /** Undefined while the first answer is on its way. */
  rows: readonly T[] | undefined;
  keyOf: (row: T) => string;
  /** What `c` copies when the row has the focus. */
  copyOf?: (row: T) => string;
}

const skeletonRows = [0, 1, 2, 3, 4];

/** A real table in a bordered frame that scrolls by itself when the page is narrow. */
export function Table<T>({ caption, columns, rows, keyOf, copyOf }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard has to reach it.
    <div className="table-frame" tabIndex={0}>
      <table aria-busy={rows === undefined}>
        <caption className="visually-hidden">{caption}</caption>
        <colgroup>
          {columns.map(({ head, width }) => (
            <col key={head} style={width === undefined ? undefined : { width }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ head, align }) => (
              <th key={head} scope="col" data-align={align}>
                {head === '' ? <span className="visually-hidden">{t('kit.actions')}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined ? (
            <Delayed>
              {skeletonRows.map((row) => (
                <tr key={row}>
                  {columns.map(({ head }) => (
                    <td key={head}>
                      <span className="skeleton" />
                    </td>
                  ))}
                </tr>
              ))}
            </Delayed>
          ) : (
            rows.map((row) => (
              <tr key={keyOf(row)} data-copy={copyOf?.(row)}>
                {columns.map(({ head, cell, align }) => (
                  <td key={head} data-align={align}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))
          )}
        </tbody>
      </table>
    </div>
  );
}
