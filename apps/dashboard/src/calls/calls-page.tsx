import type { Call } from '@parley/contract';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterSelect } from '../frame/filter-select.tsx';
import { FilterText } from '../frame/filter-text.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { clearing, useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { span } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Score } from './words.tsx';

export default function CallsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [order, setOrder] = useFilter('sort');
  const [roomId, setRoomId] = useFilter('room');
  const sort = order === 'worst' ? 'worst' : 'newest';
  const filter = { sort, ...(roomId === '' ? {} : { roomId }) } as const;
  const query = usePaged(['project', project.id, 'calls', environment, filter], (page, signal) =>
    api.request('listProjectCalls', { projectId: project.id, query: { environment, ...filter, ...page } }, { signal }),
  );
  return (
    <ListPage
      title={t('page.calls')}
      query={query}
      lead={t('calls.lead')}
      caption={
        sort === 'worst'
          ? t('calls.captionWorst', { environment: environmentName(environment) })
          : t('calls.captionNewest', { environment: environmentName(environment) })
      }
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      filters={
        <>
          <FilterSelect
            label={t('calls.order')}
            any={t('calls.newestFirst')}
            value={order}
            options={[['worst', t('calls.worstFirst')]]}
            onChange={setOrder}
          />
          <FilterText label={t('words.roomId')} value={roomId} onChange={setRoomId} isFirst />
        </>
      }
      onClear={clearing(roomId === '' ? {} : { roomId }, setRoomId)}
      empty={{
        title: t('calls.none'),
        noMatch: t('calls.noMatch'),
        children: <p>{t('calls.appears')}</p>,
      }}
    />
  );
}

function columns({ to }: CurrentProject): readonly Column<Call>[] {
  return [
    {
      head: t('words.started'),
      cell: ({ id, startedAt }) => (
        <Link className="row-link" href={to(`calls/${id}`)}>
          <Time at={startedAt} />
        </Link>
      ),
    },
    {
      head: t('words.room'),
      cell: ({ roomId, roomName }) => <Link href={to(`rooms/${roomId}`)}>{roomName ?? roomId}</Link>,
    },
    {
      head: t('calls.length'),
      cell: ({ startedAt, lastSampleAt }) => span(Date.parse(lastSampleAt) - Date.parse(startedAt)),
    },
    { head: t('words.participants'), align: 'end', cell: ({ participantCount }) => participantCount },
    { head: t('calls.score'), cell: ({ score }) => <Score score={score} /> },
    { head: t('calls.worstOfOne'), cell: ({ worstScore }) => <Score score={worstScore} /> },
  ];
}
