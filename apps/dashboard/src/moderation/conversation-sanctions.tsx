import type { Sanction } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { useProject } from '../frame/project.tsx';
import { moderationKeys } from './queries.ts';
import { LiftDialog } from './sanction-dialogs.tsx';
import { sanctionColumns, withKind } from './sanction-table.tsx';
import { t, withNodes } from './texts.ts';

/** Who is banned from one conversation, muted or in the shadow there. */
export function ConversationSanctions({ conversationId }: { conversationId: string }) {
  const api = useApi();
  const { project, environment, may, to } = useProject();
  const [lifted, setLifted] = useState<Sanction | null>(null);
  const query = usePaged(moderationKeys.inConversation(project.id, environment, conversationId), (page, signal) =>
    api.request(
      'listProjectConversationSanctions',
      { projectId: project.id, conversationId, query: { environment, ...page } },
      { signal },
    ),
  );
  return (
    <>
      <List
        query={query}
        caption={t('moderation.hereCaption')}
        columns={withKind(sanctionColumns(may('chat:manage') ? setLifted : null))}
        keyOf={({ kind, userId }) => `${kind} ${userId}`}
        copyOf={({ userId }) => userId}
        empty={{
          title: t('moderation.nobodyHere'),
          children: (
            <p>
              {withNodes('moderation.whoHere', {
                page: <Link href={to('moderation', { tab: 'bans' })}>{t('page.moderation')}</Link>,
              })}
            </p>
          ),
        }}
      />
      {lifted && <LiftDialog sanction={lifted} onClose={() => setLifted(null)} />}
    </>
  );
}
