import type { Sanction, SanctionKind } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { isBare, List } from '../frame/list.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { Button } from '../kit/button.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import type { Column } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { moderationKeys } from './queries.ts';
import { ImposeDialog, LiftDialog } from './sanction-dialogs.tsx';
import { t } from './texts.ts';
import { ImposedBy, kindWord } from './words.tsx';

const routes = {
  BAN: 'listProjectChatBans',
  MUTE: 'listProjectChatMutes',
  SHADOW: 'listProjectChatShadows',
} as const;
const texts = {
  BAN: {
    caption: 'moderation.bansCaption',
    none: 'moderation.noBan',
    what: 'moderation.whatBan',
    add: 'moderation.ban',
  },
  MUTE: {
    caption: 'moderation.mutesCaption',
    none: 'moderation.noMute',
    what: 'moderation.whatMute',
    add: 'moderation.mute',
  },
  SHADOW: {
    caption: 'moderation.shadowsCaption',
    none: 'moderation.noShadow',
    what: 'moderation.whatShadow',
    add: 'moderation.shadow',
  },
} as const;

/** Who is banned from all chat, muted in it, or in the shadow. */
export function SanctionTable({ kind }: { kind: SanctionKind }) {
  const api = useApi();
  const { project, environment, may } = useProject();
  const [dialog, setDialog] = useState<'impose' | Sanction | null>(null);
  const query = usePaged(moderationKeys.sanctions(project.id, environment, kind), (page, signal) =>
    api.request(routes[kind], { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  const { caption, none, what, add } = texts[kind];
  const mayManage = may('chat:manage');
  const impose = (
    <Button
      variant="primary"
      icon={<PlusIcon />}
      disabled={!mayManage}
      title={mayManage ? undefined : askFor('chat:manage')}
      onClick={() => setDialog('impose')}
    >
      {t(add)}
    </Button>
  );
  const list = {
    query,
    caption: t(caption, { environment: environmentName(environment) }),
    columns: sanctionColumns(mayManage ? setDialog : null),
    keyOf: ({ userId }: Sanction) => userId,
    copyOf: ({ userId }: Sanction) => userId,
    empty: { title: t(none), action: impose, children: <p>{t(what)}</p> },
  };
  return (
    <>
      {!isBare(list) && (
        <div className="section-head">
          <p className="muted">{t(what)}</p>
          {impose}
        </div>
      )}
      <List {...list} />
      {dialog === 'impose' && <ImposeDialog kind={kind} onClose={() => setDialog(null)} />}
      {dialog !== null && dialog !== 'impose' && <LiftDialog sanction={dialog} onClose={() => setDialog(null)} />}
    </>
  );
}

/** Where a list holds every kind. */
export function withKind([user, ...rest]: readonly Column<Sanction>[]): readonly Column<Sanction>[] {
  const kind = { head: t('moderation.kind'), cell: kindWord };
  return user ? [user, kind, ...rest] : [];
}

export function sanctionColumns(onLift: ((sanction: Sanction) => void) | null): readonly Column<Sanction>[] {
  return [
    { head: t('words.user'), cell: ({ userId }) => <strong className="mono">{userId}</strong> },
    {
      head: t('moderation.until'),
      cell: ({ until }) => (until === null ? t('chat.forGood') : <Time at={until} />),
    },
    {
      head: t('moderation.reason'),
      cell: ({ reason }) =>
        reason === null ? (
          <span className="no-data">{t('moderation.noReason')}</span>
        ) : (
          <span className="wrap">{reason}</span>
        ),
    },
    { head: t('moderation.by'), cell: ({ imposedBy }) => <ImposedBy by={imposedBy} /> },
    { head: t('moderation.since'), cell: ({ createdAt }) => <Ago at={createdAt} /> },
    {
      head: '',
      align: 'end',
      cell: (sanction) => (
        <Button
          disabled={onLift === null}
          title={onLift === null ? askFor('chat:manage') : undefined}
          aria-label={t('moderation.liftOf', { user: sanction.userId })}
          onClick={() => onLift?.(sanction)}
        >
          {t('moderation.lift')}
        </Button>
      ),
    },
  ];
}
