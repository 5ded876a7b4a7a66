import type { ChatDeletion } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { UserLink } from '../chat/user-link.tsx';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { isBare, List } from '../frame/list.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { DeleteMessagesDialog } from './delete-messages-dialog.tsx';
import { moderationKeys } from './queries.ts';
import { t } from './texts.ts';

/** All messages of a user that are deleted, or were in the last days. */
export function DeletionTable() {
  const api = useApi();
  const { project, environment, may, to } = useProject();
  const [isOpen, setOpen] = useState(false);
  const query = usePaged(moderationKeys.deletions(project.id, environment), (page, signal) =>
    api.request('listProjectChatDeletions', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  const mayManage = may('chat:manage');
  const begin = (
    <Button
      variant="danger"
      disabled={!mayManage}
      title={mayManage ? undefined : askFor('chat:manage')}
      onClick={() => setOpen(true)}
    >
      {t('moderation.deleteMessages')}
    </Button>
  );
  const list = {
    query,
    caption: t('moderation.deletionsCaption', { environment: environmentName(environment) }),
    columns: columns(to),
    keyOf: ({ id }: ChatDeletion) => id,
    copyOf: ({ id }: ChatDeletion) => id,
    empty: { title: t('moderation.noDeletion'), action: begin, children: <p>{t('moderation.whatDeletion')}</p> },
  };
  return (
    <>
      {!isBare(list) && (
        <div className="section-head">
          <p className="muted">{t('moderation.whatDeletion')}</p>
          {begin}
        </div>
      )}
      <List {...list} />
      {isOpen && <DeleteMessagesDialog userId={null} onClose={() => setOpen(false)} />}
    </>
  );
}

const columns = (to: (page: string) => string): readonly Column<ChatDeletion>[] => [
  { head: t('words.user'), cell: ({ userId }) => <UserLink id={userId} /> },
  {
    head: t('rooms.conversation'),
    cell: ({ conversationId }) =>
      conversationId === null ? (
        t('moderation.inAll')
      ) : (
        <Link className="mono" href={to(`chat/${conversationId}`)}>
          {conversationId}
        </Link>
      ),
  },
  {
    head: t('words.state'),
    cell: ({ status }) =>
      status === 'RUNNING' ? (
        <Badge tone="accent">{t('moderation.deleting')}</Badge>
      ) : (
        <Badge tone="ok" shape="square">
          {t('moderation.deleted')}
        </Badge>
      ),
  },
  { head: t('words.messages'), align: 'end', cell: ({ deleted }) => count(deleted) },
  { head: t('moderation.asked'), cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    head: t('words.ended'),
    cell: ({ finishedAt }) =>
      finishedAt === null ? <span className="no-data">{t('moderation.notYet')}</span> : <Ago at={finishedAt} />,
  },
];
