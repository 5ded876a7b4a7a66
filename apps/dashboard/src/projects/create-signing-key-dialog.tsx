import type { NewSigningKey, SigningAlgorithm } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { SelectField, TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { FormDialog } from '../kit/form-dialog.tsx';
import { projectKeys } from './queries.ts';
import { t } from './texts.ts';

const algorithms = (): readonly { value: SigningAlgorithm; label: string }[] => [
  { value: 'HS256', label: t('projects.bySecret') },
  { value: 'EdDSA', label: t('projects.byEd25519') },
  { value: 'ES256', label: t('projects.byP256') },
];

export function CreateSigningKeyDialog(props: { onClose: () => void; onCreated: (key: NewSigningKey) => void }) {
  const api = useApi();
  const client = useQueryClient();
  const { project, environment } = useProject();
  const form = useForm({
    initial: { name: '', algorithm: 'HS256', publicKey: '' },
    check: ({ name, algorithm, publicKey }) => ({
      name: name.trim() === '' ? t('projects.nameTheKey') : undefined,
      publicKey: algorithm !== 'HS256' && publicKey.trim() === '' ? t('projects.pastePublicKey') : undefined,
    }),
    submit: ({ name, algorithm, publicKey }) =>
      api.call('createSigningKey', {
        projectId: project.id,
        body: {
          name: name.trim(),
          environment,
          // The list above has no other.
          algorithm: algorithm as SigningAlgorithm,
          ...(algorithm === 'HS256' ? {} : { publicKey }),
        },
      }),
    onDone: (created) => {
      void client.invalidateQueries({ queryKey: projectKeys.signingKeys(project.id) });
      props.onCreated(created);
    },
  });
  return (
    <FormDialog
      title={t('projects.newSigningKeyFor', { environment: environmentName(environment) })}
      onClose={props.onClose}
      form={form}
      action={t('projects.createSigningKey')}
    >
      <TextField
        label={t('words.name')}
        hint={t('projects.keyNameHint')}
        maxLength={64}
        autoComplete="off"
        autoFocus
        {...form.field('name')}
      />
      <SelectField label={t('projects.signsWith')} options={algorithms()} {...form.field('algorithm')} />
      {form.values.algorithm !== 'HS256' && (
        <TextArea
          label={t('projects.publicKey')}
          hint={t('projects.publicKeyHint')}
          spellCheck={false}
          {...form.field('publicKey')}
        />
      )}
    </FormDialog>
  );
}
