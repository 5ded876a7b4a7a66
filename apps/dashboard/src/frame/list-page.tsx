import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '../kit/button.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { More } from './more.tsx';
import { Page } from './page.tsx';
import { QueryView } from './query-view.tsx';

interface ListPageProps<T> {
  title: string;
  lead: ReactNode;
  actions?: ReactNode;
  query: UseInfiniteQueryResult<T[]>;
  /** Of the table, for those who hear it. */
  caption: string;
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** What `c` copies when the row has the focus. */
  copyOf?: (row: T) => string;
  filters?: ReactNode;
  /** Empties the filters; given while any is set. */
  onClear?: (() => void) | undefined;
  /** What an empty page says, and what to do first. */
  empty: { title: string; noMatch: string; children?: ReactNode };
  /** Above the table, of the rows in it. */
  summary?: (rows: readonly T[]) => ReactNode;
}

/** A page that is a list: filters, a table that grows, and what is said while there is nothing. */
export function ListPage<T>(props: ListPageProps<T>) {
  const { title, lead, actions, query, caption, columns, keyOf, copyOf, filters, onClear, empty, summary } = props;
  const table = (rows: readonly T[] | undefined) => (
    <Table caption={caption} columns={columns} rows={rows} keyOf={keyOf} {...(copyOf ? { copyOf } : {})} />
  );
  return (
    <Page title={title} query={query} lead={lead} actions={actions}>
      {filters && <div className="filters">{filters}</div>}
      <QueryView query={query} skeleton={table(undefined)}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              title={onClear ? empty.noMatch : empty.title}
              action={onClear && <Button onClick={onClear}>Clear filters</Button>}
            >
              {!onClear && empty.children}
            </EmptyState>
          ) : (
            <>
              {summary?.(rows)}
              {table(rows)}
            </>
          )
        }
      </QueryView>
      <More query={query} />
    </Page>
  );
}
