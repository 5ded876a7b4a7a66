import type { Connection } from '@parley/contract';
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
import { NoData } from '../kit/empty-state.tsx';
import { span } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Time } from '../kit/time.tsx';
import { Outcomes } from './outcomes.tsx';
import { ConnectionBadge, isState, stateWords } from './words.tsx';

export default function ConnectionsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [state, setState] = useFilter('state');
  const [roomId, setRoomId] = useFilter('room');
  const filter = { ...(isState(state) ? { state } : {}), ...(roomId === '' ? {} : { roomId }) };
  const query = usePaged(['project', project.id, 'connections', environment, filter], (page, signal) =>
    api.request(
      'listProjectConnections',
      { projectId: project.id, query: { environment, ...filter, ...page } },
      { signal },
    ),
  );
  return (
    <ListPage
      title={t('page.connections')}
      query={query}
      lead={t('observability.lead')}
      caption={t('observability.connectionsCaption', { environment: environmentName(environment) })}
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={({ connectionId }) => connectionId}
      filters={
        <>
          <FilterSelect
            label={t('words.state')}
            any={t('words.anyState')}
            value={state}
            options={Object.entries(stateWords).map(([value, [label]]) => [value, t(label)])}
            onChange={setState}
          />
          <FilterText label={t('words.roomId')} value={roomId} onChange={setRoomId} isFirst />
        </>
      }
      onClear={clearing(filter, setState, setRoomId)}
      empty={{
        title: t('observability.nobodyYet'),
        noMatch: t('observability.noConnectionMatch'),
        children: <p>{t('observability.connectionAppears')}</p>,
      }}
      summary={(rows) => <Outcomes connections={rows} />}
    />
  );
}

function columns({ to }: CurrentProject): readonly Column<Connection>[] {
  return [
    {
      head: t('words.started'),
      cell: ({ connectionId, startedAt }) => (
        <Link className="row-link" href={to(`connections/${connectionId}`)}>
          <Time at={startedAt} />
        </Link>
      ),
    },
    { head: t('words.identity'), cell: ({ participantIdentity }) => participantIdentity ?? <NoData /> },
    {
      head: t('words.room'),
      cell: ({ roomId, roomName }) =>
        roomId === null ? <NoData /> : <Link href={to(`rooms/${roomId}`)}>{roomName ?? roomId}</Link>,
    },
    { head: t('words.state'), cell: ({ state }) => <ConnectionBadge state={state} /> },
    { head: t('words.duration'), cell: ({ durationMs }) => (durationMs === null ? <NoData /> : span(durationMs)) },
    {
      head: t('observability.timeToConnect'),
      cell: ({ timeToConnectMs }) => (timeToConnectMs === null ? <NoData /> : span(timeToConnectMs)),
    },
    { head: t('observability.node'), cell: ({ serverName }) => serverName ?? <NoData /> },
    {
      head: t('page.errors'),
      align: 'end',
      cell: ({ errorCount, connectionId }) =>
        errorCount === 0 ? '0' : <Link href={to('errors', { connection: connectionId })}>{errorCount}</Link>,
    },
  ];
}
