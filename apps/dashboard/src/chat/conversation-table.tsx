import type { Conversation } from '@parley/contract';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { FilterSelect } from '../frame/filter-select.tsx';
import { FilterText } from '../frame/filter-text.tsx';
import { List } from '../frame/list.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { clearing, useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { chatKeys } from './queries.ts';
import { ConversationBadge, isType, retentionWords, types, typeWord } from './words.tsx';

export function ConversationTable() {
  const api = useApi();
  const current = useProject();
  const { project, environment } = current;
  const [name, setName] = useFilter('name');
  const [type, setType] = useFilter('type');
  const filter = { ...(name === '' ? {} : { name }), ...(isType(type) ? { type } : {}) };
  const query = usePaged(chatKeys.conversations(project.id, environment, filter), (page, signal) =>
    api.request(
      'listProjectConversations',
      { projectId: project.id, query: { environment, ...page, ...filter } },
      { signal },
    ),
  );
  return (
    <List
      query={query}
      caption={t('chat.caption', { environment: environmentName(environment) })}
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      filters={
        <>
          <FilterText label={t('words.nameContains')} value={name} onChange={setName} isFirst />
          <FilterSelect
            label={t('words.type')}
            any={t('chat.anyType')}
            value={type}
            options={Object.entries(types).map(([value, label]) => [value, t(label)])}
            onChange={setType}
          />
        </>
      }
      onClear={clearing(filter, setName, setType)}
      empty={{ title: t('chat.noMatch') }}
    />
  );
}

function columns({ to }: CurrentProject): readonly Column<Conversation>[] {
  return [
    {
      head: t('words.name'),
      width: '26%',
      cell: ({ id, name }) => (
        <Link className="row-link" href={to(`chat/${id}`)}>
          {name}
        </Link>
      ),
    },
    { head: t('words.type'), cell: ({ type }) => typeWord(type) },
    { head: t('words.status'), cell: ({ status }) => <ConversationBadge status={status} /> },
    { head: t('words.members'), align: 'end', cell: ({ memberCount }) => count(memberCount) },
    { head: t('words.messages'), align: 'end', cell: ({ messageCount }) => count(messageCount) },
    {
      head: t('chat.lastMessage'),
      cell: ({ lastMessageAt }) =>
        lastMessageAt === null ? <span className="no-data">{t('chat.noneYet')}</span> : <Ago at={lastMessageAt} />,
    },
    { head: t('chat.kept'), cell: retentionWords },
  ];
}
