import type { Conversation } from '@parley/contract';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterText } from '../frame/filter-text.tsx';
import { More } from '../frame/more.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { useFilter } from '../frame/url.ts';
import { Button } from '../kit/button.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { SelectField } from '../kit/field.tsx';
import { count } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';
import { ConversationBadge, retentionWords, typeWords } from './words.tsx';

export function ConversationTable() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [name, setName] = useFilter('name');
  const [type, setType] = useFilter('type');
  const query = usePaged(chatKeys.conversations(project.id, environment), (page, signal) =>
    api.request('listProjectConversations', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  const matches = (row: Conversation): boolean =>
    row.name.toLowerCase().includes(name.toLowerCase()) && (type === '' || row.type === type);
  const table = (rows: readonly Conversation[] | undefined) => (
    <Table
      caption={`Conversations in ${environment.toLowerCase()}`}
      columns={columns(current)}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <>
      <div className="filters">
        <FilterText label="Name contains" value={name} onChange={setName} isFirst />
        <SelectField
          label="Type"
          value={type}
          options={[
            { value: '', label: 'Any type' },
            ...Object.entries(typeWords).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(event) => setType(event.target.value)}
        />
      </div>
      <QueryView query={query} skeleton={table(undefined)}>
        {(rows) => {
          const shown = rows.filter(matches);
          if (shown.length > 0) return table(shown);
          return (
            <EmptyState
              title="No loaded conversation matches"
              action={
                <Button
                  onClick={() => {
                    setName('');
                    setType('');
                  }}
                >
                  Clear filters
                </Button>
              }
            />
          );
        }}
      </QueryView>
      <More query={query} />
    </>
  );
}

function columns({ to }: CurrentProject): readonly Column<Conversation>[] {
  return [
    {
      head: 'Name',
      width: '26%',
      cell: ({ id, name }) => (
        <Link className="row-link" href={to(`chat/${id}`)}>
          {name}
        </Link>
      ),
    },
    { head: 'Type', cell: ({ type }) => typeWords[type] },
    { head: 'Status', cell: ({ status }) => <ConversationBadge status={status} /> },
    { head: 'Members', align: 'end', cell: ({ memberCount }) => count(memberCount) },
    { head: 'Messages', align: 'end', cell: ({ messageCount }) => count(messageCount) },
    {
      head: 'Last message',
      cell: ({ lastMessageAt }) =>
        lastMessageAt === null ? <span className="no-data">None yet</span> : <Ago at={lastMessageAt} />,
    },
    { head: 'Kept', cell: retentionWords },
  ];
}
