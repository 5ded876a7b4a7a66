import type { Passkey } from '@parley/contract';
import { useApi } from '../../data/services.tsx';
import { t } from '../../i18n/t.ts';
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
    check: ({ name }) => ({ name: name.trim() === '' ? t('accounts.namePasskey') : undefined }),
    submit: ({ name }) => save(name.trim()),
    onDone: props.onDone,
  });
  const noneWasMade = form.failure !== null && form.failure.code === null && form.failure.kind === 'server';
  return (
    <Dialog
      title={passkey ? t('accounts.renameNamed', { name: passkey.name }) : t('accounts.addAPasskey')}
      onClose={props.onClose}
    >
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {!passkey && <p>{t('accounts.browserAsks')}</p>}
        {noneWasMade && <p role="alert">{t('accounts.noneMade')}</p>}
        {form.failure && !noneWasMade && <ErrorNotice failure={form.failure} />}
        <TextField label={t('words.name')} maxLength={64} autoComplete="off" autoFocus {...form.field('name')} />
        <div className="dialog-actions">
          <Button onClick={props.onClose}>{t('kit.cancel')}</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
            {t(passkey ? 'words.save' : 'accounts.addPasskey')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
