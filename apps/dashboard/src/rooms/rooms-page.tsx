import type { Room } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { askFor, type CurrentProject, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { EmptyState, NoData } from '../kit/empty-state.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import { useAnnounced } from '../kit/live.tsx';
import { plural } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { CreateRoomForm, RoomSnippets } from './create-room.tsx';
import { roomKeys } from './queries.ts';

export default function RoomsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment, may } = current;
  const [name, setName] = useFilter('name');
  const [isCreating, setCreating] = useState(false);
  const query = usePaged(roomKeys.list(project.id, environment, name), (page, signal) => {
    const filter = { environment, ...page, ...(name === '' ? {} : { name }) };
    return api.request('listProjectRooms', { projectId: project.id, query: filter }, { signal });
  });
  const rooms = query.data;
  const isEmpty = rooms?.length === 0 && name === '';
  useAnnounced(rooms === undefined ? null : plural(rooms.length, 'active room'));
  const mayCreate = may('room:manage') && project.status === 'ACTIVE';

  const table = (rows: readonly Room[] | undefined) => (
    <Table
      caption={`Active rooms in ${environment.toLowerCase()}`}
      columns={columns(current)}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <Page
      title="Rooms"
      query={query}
      actions={
        !isEmpty && (
          <Button
            variant="primary"
            icon={<PlusIcon />}
            disabled={!mayCreate}
            title={mayCreate ? undefined : askFor('room:manage')}
            onClick={() => setCreating(true)}
          >
            New room
          </Button>
        )
      }
    >
      {!isEmpty && (
        <div className="filters">
          <FilterText label="Name contains" value={name} onChange={setName} isFirst />
        </div>
      )}
      <QueryView query={query} skeleton={table(undefined)}>
        {() =>
          isEmpty ? (
            <EmptyState title={`No room is open in ${environment.toLowerCase()}`}>
              <p>A room is where participants meet. Your backend makes them; here is one to try.</p>
              {mayCreate ? <CreateRoomForm /> : <p>{askFor('room:manage')}</p>}
              <RoomSnippets />
            </EmptyState>
          ) : rooms?.length === 0 ? (
            <EmptyState
              title={`No room has a name with “${name}”`}
              action={<Button onClick={() => setName('')}>Clear filter</Button>}
            />
          ) : (
            table(rooms)
          )
        }
      </QueryView>
      <More query={query} />
      {isCreating && (
        <Dialog title={`New room in ${environment.toLowerCase()}`} onClose={() => setCreating(false)}>
          <CreateRoomForm />
        </Dialog>
      )}
    </Page>
  );
}

function columns({ to }: CurrentProject): readonly Column<Room>[] {
  return [
    {
      head: 'Name',
      width: '26%',
      cell: ({ id, name }) => (
        <Link className="row-link" href={to(`rooms/${id}`)}>
          {name}
        </Link>
      ),
    },
    { head: 'Id', cell: ({ id }) => <CopyId id={id} label="Copy room id" /> },
    {
      head: 'Participants',
      cell: ({ participantCount, maxParticipants }) =>
        participantCount === null ? <NoData /> : `${participantCount}/${maxParticipants}`,
    },
    { head: 'Publishing', cell: ({ publisherCount }) => publisherCount ?? <NoData /> },
    {
      head: 'Media node',
      cell: ({ serverName }) =>
        serverName === null ? (
          <span className="no-data">Not placed</span>
        ) : (
          <Link href={to(`fleet/${serverName}`)}>{serverName}</Link>
        ),
    },
    { head: 'Opened', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  ];
}
