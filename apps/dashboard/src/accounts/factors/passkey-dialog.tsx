import type { Passkey } from '@parley/contract';
import { useApi } from '../../data/services.tsx';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { ErrorNotice } from '../../kit/error-notice.tsx';
import { TextField } from '../../kit/field.tsx';
import { useForm } from '../../kit/form.ts';
import { makePasskey } from './passkeys.ts';

/** Names a passkey: one that is made now, or one that there is. */
export function PasskeyDialog(props: {
  passkey: Passkey | null;
  onDone: (recoveryCodes: readonly string[] | null) => Promise<void>;
  onClose: () => void;
}) {
  const api = useApi();
  const { passkey } = props;

  async function save(name: string): Promise<readonly string[] | null> {
    if (passkey) {
      await api.call('renamePasskey', { passkeyId: passkey.id, body: { name } });
      return null;
    }
    const credential = await makePasskey(await api.call('startPasskey'));
    return (await api.call('addPasskey', { body: { name, credential } })).recoveryCodes;
  }

  const form = useForm({
    initial: { name: passkey?.name ?? '' },
    check: ({ name }) => ({ name: name.trim() === '' ? 'Give it a name, such as that of the device.' : undefined }),
    submit: ({ name }) => save(name.trim()),
    onDone: props.onDone,
  });
  const noneWasMade = form.failure !== null && form.failure.code === null && form.failure.kind === 'server';
  return (
    <Dialog title={passkey ? `Rename ${passkey.name}` : 'Add a passkey'} onClose={props.onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {!passkey && <p>Your browser asks for your finger, face, PIN or security key. Nothing of these leaves it.</p>}
        {noneWasMade && <p role="alert">No passkey was made. Try again.</p>}
        {form.failure && !noneWasMade && <ErrorNotice failure={form.failure} />}
        <TextField label="Name" maxLength={64} autoComplete="off" autoFocus {...form.field('name')} />
        <div className="dialog-actions">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            {passkey ? 'Save' : 'Add passkey'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
