import type { WordList } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { useDone } from './queries.ts';
import { t, withNodes } from './texts.ts';
import { useChangeSettings } from './use-change-settings.ts';
import { WordListDialog } from './word-list-dialog.tsx';
import { listActions, sizeWords } from './words.tsx';

type Opened = { is: 'edit'; list: WordList | null } | { is: 'remove'; list: WordList };

export function WordListPanel({ lists }: { lists: readonly WordList[] }) {
  const { environment, may } = useProject();
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const mayManage = may('chat:manage');
  const add = mayManage && (
    <Button icon={<PlusIcon />} onClick={() => setOpened({ is: 'edit', list: null })}>
      {t('moderation.newList')}
    </Button>
  );
  return (
    <section className="panel stack" aria-labelledby="word-lists">
      <div className="section-head">
        <h2 id="word-lists">{t('moderation.wordLists')}</h2>
        {lists.length > 0 && add}
      </div>
      {lists.length === 0 ? (
        <EmptyState title={t('moderation.noList', { environment: environmentName(environment) })} action={add}>
          <p>{t('moderation.whatList')}</p>
        </EmptyState>
      ) : (
        <>
          <p className="muted">{t('moderation.whatList')}</p>
          <Table
            caption={t('moderation.listsCaption', { environment: environmentName(environment) })}
            columns={columns(mayManage ? setOpened : null)}
            rows={lists}
            keyOf={({ name }) => name}
            copyOf={({ name }) => name}
          />
        </>
      )}
      {opened?.is === 'edit' && <WordListDialog list={opened.list} onClose={close} />}
      {opened?.is === 'remove' && <RemoveListDialog list={opened.list} onClose={close} />}
    </section>
  );
}

function columns(onOpen: ((opened: Opened) => void) | null): readonly Column<WordList>[] {
  const plain: Column<WordList>[] = [
    { head: t('moderation.listName'), cell: ({ name }) => <strong>{name}</strong> },
    { head: t('moderation.action'), cell: ({ action }) => t(listActions[action]) },
    { head: t('moderation.holds'), cell: (list) => sizeWords([list]) },
  ];
  if (onOpen === null) return plain;
  return [
    ...plain,
    {
      head: '',
      align: 'end',
      cell: (list) => (
        <span className="row">
          <Button
            aria-label={t('moderation.changeOf', { name: list.name })}
            onClick={() => onOpen({ is: 'edit', list })}
          >
            {t('moderation.change')}
          </Button>
          <Button
            aria-label={t('moderation.removeOf', { name: list.name })}
            onClick={() => onOpen({ is: 'remove', list })}
          >
            {t('words.remove')}
          </Button>
        </span>
      ),
    },
  ];
}

function RemoveListDialog({ list: { name }, onClose }: { list: WordList; onClose: () => void }) {
  const change = useChangeSettings(useApi());
  const done = useDone();
  const remove = useAction(
    () => change(({ wordLists, links }) => ({ links, wordLists: wordLists.filter((one) => one.name !== name) })),
    {
      onDone: async () => {
        await done(t('moderation.listRemoved'));
        onClose();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t('moderation.removeList')}
      action={t('words.remove')}
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={onClose}
    >
      <p>{withNodes('moderation.removeListExplained', { name: <strong>{name}</strong> })}</p>
    </ConfirmDialog>
  );
}
