import type { ClassifiedError } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { clearing, useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { NoData } from '../kit/empty-state.tsx';
import { count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { metricsQuery } from './queries.ts';
import { categoryWord, isCategory } from './words.tsx';

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
  return (
    <ListPage
      title={t('page.errors')}
      query={query}
      lead={t('observability.errorsLead')}
      above={<CategoryBars chosen={category} onChoose={setCategory} />}
      caption={t('observability.errorsCaption', { environment: environmentName(environment) })}
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      filters={
        <FilterText label={t('observability.connectionId')} value={connectionId} onChange={setConnectionId} isFirst />
      }
      onClear={clearing(filter, setCategory, setConnectionId)}
      empty={{ title: t('observability.noError'), noMatch: t('observability.noErrorMatch') }}
    />
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
      <h2 id="by-cause">{t('observability.byCause24')}</h2>
      <ul className="bars">
        {found.map(([category, amount]) => (
          <li key={category}>
            <button
              type="button"
              className="bar-button"
              aria-pressed={chosen === category}
              onClick={() => onChoose(chosen === category ? '' : category)}
            >
              <span className="bar-name">{isCategory(category) ? categoryWord(category) : category}</span>
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
      head: t('observability.code'),
      cell: ({ id, code }) => (
        <Link className="row-link mono" href={to(`errors/${id}`)}>
          {code}
        </Link>
      ),
    },
    { head: t('observability.cause'), cell: ({ category }) => categoryWord(category) },
    { head: t('words.message'), cell: ({ message }) => <span className="wrap">{message}</span> },
    { head: t('words.participant'), cell: ({ participantIdentity }) => participantIdentity ?? <NoData /> },
    { head: t('observability.count'), align: 'end', cell: ({ count: amount }) => count(amount) },
    { head: t('words.lastSeen'), cell: ({ occurredAt }) => <Ago at={occurredAt} /> },
  ];
}
