import type { Room } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { ListPage } from '../frame/list-page.tsx';
import { askFor, type CurrentProject, useProject } from '../frame/project.tsx';
import { clearing, useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { CopyId } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { useAnnounced } from '../kit/live.tsx';
import type { Column } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { CreateRoomForm, RoomSnippets } from './create-room.tsx';
import { roomKeys } from './queries.ts';

export default function RoomsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment, may } = current;
  const [name, setName] = useFilter('name');
  const [isCreating, setCreating] = useState(false);
  const filter = name === '' ? {} : { name };
  const query = usePaged(roomKeys.list(project.id, environment, filter), (page, signal) =>
    api.request('listProjectRooms', { projectId: project.id, query: { environment, ...page, ...filter } }, { signal }),
  );
  const rooms = query.data;
  useAnnounced(rooms === undefined ? null : t('rooms.activeCount', { count: rooms.length }));
  const mayCreate = may('room:manage') && project.status === 'ACTIVE';
  return (
    <ListPage
      title={t('page.rooms')}
      query={query}
      create={{
        label: t('rooms.new'),
        isAllowed: mayCreate,
        permission: 'room:manage',
        onClick: () => setCreating(true),
        hasForm: true,
      }}
      caption={t('rooms.caption', { environment: environmentName(environment) })}
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      filters={<FilterText label={t('words.nameContains')} value={name} onChange={setName} isFirst />}
      onClear={clearing(filter, setName)}
      empty={{
        title: t('rooms.noneOpen', { environment: environmentName(environment) }),
        noMatch: t('rooms.noMatch', { name }),
        children: (
          <>
            <p>{t('rooms.whatIs')}</p>
            {mayCreate ? <CreateRoomForm /> : <p>{askFor('room:manage')}</p>}
            <RoomSnippets />
          </>
        ),
      }}
    >
      {isCreating && (
        <Dialog
          title={t('rooms.newIn', { environment: environmentName(environment) })}
          onClose={() => setCreating(false)}
        >
          <CreateRoomForm />
        </Dialog>
      )}
    </ListPage>
  );
}

function columns({ to }: CurrentProject): readonly Column<Room>[] {
  return [
    {
      head: t('words.name'),
      width: '26%',
      cell: ({ id, name }) => (
        <Link className="row-link" href={to(`rooms/${id}`)}>
          {name}
        </Link>
      ),
    },
    { head: t('words.id'), cell: ({ id }) => <CopyId id={id} label={t('words.copyRoomId')} /> },
    {
      head: t('words.participants'),
      cell: ({ participantCount, maxParticipants }) =>
        participantCount === null ? <NoData /> : `${participantCount}/${maxParticipants}`,
    },
    { head: t('rooms.publishing'), cell: ({ publisherCount }) => publisherCount ?? <NoData /> },
    {
      head: t('words.mediaNode'),
      cell: ({ serverName }) =>
        serverName === null ? (
          <span className="no-data">{t('rooms.notPlaced')}</span>
        ) : (
          <Link href={to(`fleet/${serverName}`)}>{serverName}</Link>
        ),
    },
    { head: t('words.opened'), cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
}
