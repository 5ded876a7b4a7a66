import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { More } from './more.tsx';
import { QueryView } from './query-view.tsx';

/** A query of rows: all at once, or page by page. */
export interface ListQuery<T> {
  data: T[] | undefined;
  error: unknown;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

export interface ListProps<T> {
  query: ListQuery<T>;
  /** Which of the loaded rows are shown; all unless given. */
  rowsOf?: (rows: readonly T[]) => readonly T[];
  /** Of the table, for those who hear it. */
  caption: string;
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** What `c` copies when the row has the focus. */
  copyOf?: (row: T) => string;
  filters?: ReactNode;
  /** Empties the filters; given while any is set. */
  onClear?: (() => void) | undefined;
  /** What is said where there is nothing, and what to do first; a list that is never empty says nothing. */
  empty?: { title: string; noMatch?: string; action?: ReactNode; children?: ReactNode };
  /** Above the table, of the rows in it. */
  summary?: (rows: readonly T[]) => ReactNode;
  /** Below it. */
  foot?: (rows: readonly T[]) => ReactNode;
}

const allOf = <T,>(rows: readonly T[]): readonly T[] => rows;

/** Whether there is nothing at all, not only nothing that matches. */
export const isBare = <T,>({ query, rowsOf = allOf, onClear }: ListProps<T>): boolean =>
  query.data !== undefined && rowsOf(query.data).length === 0 && onClear === undefined;

/** Filters, a table that grows, and what is said while there is nothing. */
export function List<T>(props: ListProps<T>) {
  const { query, rowsOf = allOf, caption, columns, keyOf, copyOf, filters, summary, foot } = props;
  const table = (rows: readonly T[] | undefined) => (
    <Table caption={caption} columns={columns} rows={rows} keyOf={keyOf} {...(copyOf ? { copyOf } : {})} />
  );
  return (
    <>
      {filters && !isBare(props) && <div className="filters">{filters}</div>}
      <QueryView query={query} skeleton={table(undefined)}>
        {(all) => {
          const rows = rowsOf(all);
          if (rows.length === 0 && props.empty) return <Nothing {...props.empty} onClear={props.onClear} />;
          return (
            <>
              {summary?.(rows)}
              {table(rows)}
              {foot?.(rows)}
            </>
          );
        }}
      </QueryView>
      <More query={query} />
    </>
  );
}

function Nothing(props: NonNullable<ListProps<never>['empty']> & { onClear: (() => void) | undefined }) {
  const { title, noMatch, action, children, onClear } = props;
  if (!onClear) {
    return (
      <EmptyState title={title} action={action}>
        {children}
      </EmptyState>
    );
  }
  return <EmptyState title={noMatch ?? title} action={<Button onClick={onClear}>{t('frame.clearFilters')}</Button>} />;
}
