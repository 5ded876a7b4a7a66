import type { ModerationSettings, SetModeration, WordList } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { SelectField, TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { moderationKeys, useDone } from './queries.ts';
import { t } from './texts.ts';
import { useChangeSettings } from './use-change-settings.ts';
import { listActions } from './words.tsx';

interface Values extends Record<string, string> {
  name: string;
  action: string;
  words: string;
  patterns: string;
}

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

function listOf({ name, action, words, patterns }: Values): WordList {
  return {
    name: name.trim(),
    // The select offers exactly the actions.
    action: action as WordList['action'],
    words: linesOf(words),
    patterns: linesOf(patterns),
  };
}

/** In the place of the one before; a new one comes last. */
function placed({ wordLists, links }: ModerationSettings, before: string | null, list: WordList): SetModeration {
  const at = wordLists.findIndex(({ name }) => name === before);
  return { links, wordLists: at === -1 ? [...wordLists, list] : wordLists.with(at, list) };
}

/** Of `wordLists/2/patterns/0` the field `patterns`: what the service says is shown there. */
const fieldAt = (path: string): string => /^wordLists\/\d+\/(\w+)/.exec(path)?.[1] ?? 'words';

/** Makes a word list, or changes one. */
export function WordListDialog({ list, onClose }: { list: WordList | null; onClose: () => void }) {
  const change = useChangeSettings(useApi());
  const done = useDone();
  const names = useNames().filter((name) => name !== list?.name);
  const form = useForm<Values, ModerationSettings>({
    initial: {
      name: list?.name ?? '',
      action: list?.action ?? 'reject',
      words: list?.words?.join('\n') ?? '',
      patterns: list?.patterns?.join('\n') ?? '',
    },
    check: (values) => {
      const { name, words = [], patterns = [] } = listOf(values);
      return {
        ...(name === '' && { name: t('moderation.giveName') }),
        ...(names.includes(name) && { name: t('moderation.nameTaken') }),
        ...(words.length + patterns.length === 0 && { words: t('moderation.giveWords') }),
      };
    },
    submit: (values) => change((now) => placed(now, list?.name ?? null, listOf(values))),
    fieldAt,
    onDone: async () => {
      await done(t('moderation.listSaved'));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t(list ? 'moderation.changeList' : 'moderation.newList')}
      isWide
      onClose={onClose}
      form={form}
      action={t('words.save')}
    >
      <TextField label={t('words.name')} maxLength={64} autoComplete="off" autoFocus {...form.field('name')} />
      <SelectField
        label={t('moderation.action')}
        options={Object.entries(listActions).map(([value, label]) => ({ value, label: t(label) }))}
        {...form.field('action')}
      />
      <TextArea
        label={t('moderation.wordsLabel')}
        hint={t('moderation.wordsHint')}
        rows={6}
        spellCheck={false}
        {...form.field('words')}
      />
      <TextArea
        label={t('moderation.patternsLabel')}
        hint={t('moderation.patternsHint')}
        rows={3}
        spellCheck={false}
        {...form.field('patterns')}
      />
    </FormDialog>
  );
}

/** Of the lists that the page shows. */
function useNames(): string[] {
  const client = useQueryClient();
  const { project, environment } = useProject();
  const known = client.getQueryData<ModerationSettings>(moderationKeys.settings(project.id, environment));
  return known?.wordLists.map(({ name }) => name) ?? [];
}
