import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { useDone } from './queries.ts';
import { t } from './texts.ts';

/** Of a user that is known, or of one that is named here: either way the id is typed. */
export function DeleteMessagesDialog({ userId, onClose }: { userId: string | null; onClose: () => void }) {
  const api = useApi();
  const done = useDone();
  const { project, environment } = useProject();
  const form = useForm({
    initial: { userId: '' },
    check: ({ userId: typed }) => ({
      userId:
        typed.trim() === ''
          ? t('moderation.enterUser')
          : userId !== null && typed.trim() !== userId
            ? t('moderation.otherUser')
            : undefined,
    }),
    submit: ({ userId: typed }) =>
      api.call('deleteProjectUserMessages', { projectId: project.id, userId: typed.trim(), query: { environment } }),
    onDone: async (deletion) => {
      await done(t('moderation.deletionBegun', { user: deletion.userId }));
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('moderation.deleteFor', { environment: environmentName(environment) })}
      onClose={onClose}
      form={form}
      action={t('moderation.deleteNow')}
      isDanger
    >
      <p>{t('moderation.deleteExplained')}</p>
      <TextField
        label={userId === null ? t('moderation.userId') : t('kit.typeToConfirm', { typed: userId })}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        {...form.field('userId')}
      />
    </FormDialog>
  );
}
