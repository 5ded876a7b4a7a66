import { useApi, useUser } from '../data/services.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { PasswordField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { useToast } from '../kit/toast.tsx';
import { commonPassword, passwordProblem } from './passwords.ts';

/** A new password for who knows the current one. The form empties itself when it is done. */
export function ChangePassword({ onDone }: { onDone: () => void }) {
  const api = useApi();
  const { email } = useUser();
  const toast = useToast();
  const form = useForm({
    initial: { currentPassword: '', password: '' },
    check: ({ currentPassword, password }) => ({
      currentPassword: currentPassword === '' ? t('accounts.enterCurrent') : undefined,
      password: passwordProblem(password),
    }),
    fieldOf: { ...commonPassword, SVC_WRONG_PASSWORD: 'currentPassword' },
    submit: (body) => api.call('changePassword', { body }),
    onDone: () => {
      form.set('currentPassword', '');
      form.set('password', '');
      toast(t('accounts.passwordChanged'));
      onDone();
    },
  });
  return (
    <form className="stack" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <PasswordField
        label={t('accounts.currentPassword')}
        autoComplete="current-password"
        {...form.field('currentPassword')}
      />
      <PasswordField
        label={t('accounts.newPassword')}
        hint={t('accounts.newPasswordHint')}
        autoComplete="new-password"
        {...form.field('password')}
      />
      <div className="row">
        <Button type="submit" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('accounts.changePassword')}
        </Button>
      </div>
    </form>
  );
}
