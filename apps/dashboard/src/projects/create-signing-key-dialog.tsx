import type { NewSigningKey, SigningAlgorithm } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField, TextArea, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { projectKeys } from './queries.ts';

const algorithms: readonly { value: SigningAlgorithm; label: string }[] = [
  { value: 'HS256', label: 'A secret (HS256)' },
  { value: 'EdDSA', label: 'A key pair of mine, Ed25519 (EdDSA)' },
  { value: 'ES256', label: 'A key pair of mine, P-256 (ES256)' },
];

export function CreateSigningKeyDialog(props: { onClose: () => void; onCreated: (key: NewSigningKey) => void }) {
  const api = useApi();
  const client = useQueryClient();
  const { project, environment } = useProject();
  const form = useForm({
    initial: { name: '', algorithm: 'HS256', publicKey: '' },
    check: ({ name, algorithm, publicKey }) => ({
      name: name.trim() === '' ? 'Give the key a name, such as where it is used.' : undefined,
      publicKey: algorithm !== 'HS256' && publicKey.trim() === '' ? 'Paste the public key.' : undefined,
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
    <Dialog title={`New signing key for ${environment.toLowerCase()}`} onClose={props.onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField
          label="Name"
          hint="Where the key is used, for example: backend on staging."
          maxLength={64}
          autoComplete="off"
          autoFocus
          {...form.field('name')}
        />
        <SelectField label="Signs with" options={algorithms} {...form.field('algorithm')} />
        {form.values.algorithm !== 'HS256' && (
          <TextArea
            label="Public key"
            hint="SPKI in PEM, or a JWK. The private key stays with you."
            spellCheck={false}
            {...form.field('publicKey')}
          />
        )}
        <div className="dialog-actions">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            Create signing key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
