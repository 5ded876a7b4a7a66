import type { ClassifiedError } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Button } from '../kit/button.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { count } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { metricsQuery } from './queries.ts';
import { categoryWords, isCategory } from './words.tsx';

export default function ErrorsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [category, setCategory] = useFilter('category');
  const [connectionId, setConnectionId] = useFilter('connection');
  const filter = {
    ...(isCategory(category) ? { category } : {}),
    ...(connectionId === '' ? {} : { connectionId }),
  };
  const query = usePaged(['project', project.id, 'errors', environment, filter], (page, signal) =>
    api.request('listProjectErrors', { projectId: project.id, query: { environment, ...filter, ...page } }, { signal }),
  );
  const isFiltered = Object.keys(filter).length > 0;
  const table = (rows: readonly ClassifiedError[] | undefined) => (
    <Table
      caption={`Errors in ${environment.toLowerCase()}, newest first`}
      columns={columns(current)}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <Page title="Errors" query={query} lead="What went wrong on the way into a room and in it, sorted by cause.">
      <CategoryBars chosen={category} onChoose={setCategory} />
      <div className="filters">
        <FilterText label="Connection id" value={connectionId} onChange={setConnectionId} isFirst />
      </div>
      <QueryView query={query} skeleton={table(undefined)}>
        {(errors) =>
          errors.length === 0 ? (
            <EmptyState
              title={isFiltered ? 'No error matches' : 'No error has been recorded'}
              action={
                isFiltered && (
                  <Button
                    onClick={() => {
                      setCategory('');
                      setConnectionId('');
                    }}
                  >
                    Clear filters
                  </Button>
                )
              }
            />
          ) : (
            table(errors)
          )
        }
      </QueryView>
      <More query={query} />
    </Page>
  );
}

/** Errors of the last 24 hours by cause; each bar is a filter. */
function CategoryBars({ chosen, onChoose }: { chosen: string; onChoose: (category: string) => void }) {
  const { project, environment } = useProject();
  const { data } = useQuery(metricsQuery(useApi(), project.id, environment));
  const found = Object.entries(data?.errors.byCategory ?? {})
    .filter(([, amount]) => amount > 0)
    .sort(([, a], [, b]) => b - a);
  const most = Math.max(1, ...found.map(([, amount]) => amount));
  if (found.length === 0) return null;
  return (
    <section className="panel stack-small" aria-labelledby="by-cause">
      <h2 id="by-cause">Last 24 hours by cause</h2>
      <ul className="bars">
        {found.map(([category, amount]) => (
          <li key={category}>
            <button
              type="button"
              className="bar-button"
              aria-pressed={chosen === category}
              onClick={() => onChoose(chosen === category ? '' : category)}
            >
              <span className="bar-name">{isCategory(category) ? categoryWords[category] : category}</span>
              <span className="bar">
                <span style={{ width: `${(amount / most) * 100}%` }} />
              </span>
              <span className="bar-value">{count(amount)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function columns({ to }: CurrentProject): readonly Column<ClassifiedError>[] {
  return [
    {
      head: 'Code',
      cell: ({ id, code }) => (
        <Link className="row-link mono" href={to(`errors/${id}`)}>
          {code}
        </Link>
      ),
    },
    { head: 'Cause', cell: ({ category }) => categoryWords[category] },
    { head: 'Message', cell: ({ message }) => <span className="wrap">{message}</span> },
    { head: 'Participant', cell: ({ participantIdentity }) => participantIdentity ?? <NoData /> },
    { head: 'Count', align: 'end', cell: ({ count: amount }) => count(amount) },
    { head: 'Last seen', cell: ({ occurredAt }) => <Ago at={occurredAt} /> },
  ];
}
