import type { Permission } from '@parley/contract';
import type { ReactNode } from 'react';
import { Button } from '../kit/button.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import { isBare, List, type ListProps, type ListQuery } from './list.tsx';
import { Page, type Refreshed } from './page.tsx';
import { askFor } from './project.tsx';

interface Creation {
  label: string;
  /** Whether it is possible here and now; if not, the button says who can help. */
  isAllowed: boolean;
  permission?: Permission;
  onClick: () => void;
  /** The empty page has a form for it instead of the button. */
  hasForm?: boolean;
}

interface ListPageProps<T> extends ListProps<T> {
  query: ListQuery<T> & Refreshed;
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  /** How a row is made: a button beside the title, or in the middle of an empty page. */
  create?: Creation;
  /** Between the title and the list. */
  above?: ReactNode;
  /** Below the list: other sections, dialogs. */
  children?: ReactNode;
}

/** A page that is a list: title, filters, table, the rest on request, and what is said while there is nothing. */
export function ListPage<T>({ title, lead, actions, create, above, children, ...list }: ListPageProps<T>) {
  const { query, empty } = list;
  const button = create && <CreateButton {...create} />;
  const isInMiddle = empty !== undefined && isBare(list);
  return (
    <Page
      title={title}
      query={query}
      lead={lead}
      actions={
        <>
          {actions}
          {!isInMiddle && button}
        </>
      }
    >
      {above}
      <List {...list} {...(empty ? { empty: create?.hasForm ? empty : { action: button, ...empty } } : {})} />
      {children}
    </Page>
  );
}

function CreateButton({ label, isAllowed, permission, onClick }: Creation) {
  return (
    <Button
      variant="primary"
      icon={<PlusIcon />}
      disabled={!isAllowed}
      title={isAllowed || permission === undefined ? undefined : askFor(permission)}
      onClick={onClick}
    >
      {label}
    </Button>
  );
}
