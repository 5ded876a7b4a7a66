import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../data/services.tsx';
import { QueryView } from '../../frame/query-view.tsx';
import { t, withNodes } from '../../i18n/t.ts';
import { Button } from '../../kit/button.tsx';
import { CopyId } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { ErrorNotice } from '../../kit/error-notice.tsx';
import { TextField } from '../../kit/field.tsx';
import { useForm } from '../../kit/form.ts';
import { QrCode } from '../../kit/qr-code.tsx';

/** A new secret for an authenticator app, and the code that proves that it has it. */
export function AppDialog(props: {
  onDone: (recoveryCodes: readonly string[] | null) => Promise<void>;
  onClose: () => void;
}) {
  const api = useApi();
  const started = useQuery({
    queryKey: ['new-totp'],
    queryFn: () => api.call('startTotp'),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const form = useForm({
    initial: { code: '' },
    check: ({ code }) => ({
      code: /^\d{6}$/.test(code.trim()) ? undefined : t('accounts.enterSixDigits'),
    }),
    fieldOf: { SVC_INVALID_SECOND_FACTOR: 'code' },
    submit: ({ code }) => api.call('confirmTotp', { body: { code: code.trim() } }),
    onDone: ({ recoveryCodes }) => props.onDone(recoveryCodes),
  });
  return (
    <Dialog title={t('accounts.setUpApp')} onClose={props.onClose}>
      <QueryView query={started}>
        {({ secret, otpauthUrl }) => (
          <form className="stack" onSubmit={form.onSubmit} noValidate>
            <p>{withNodes('accounts.scan', { link: <a href={otpauthUrl}>{t('accounts.openInApp')}</a> })}</p>
            <QrCode text={otpauthUrl} label={t('accounts.qrLabel')} />
            <CopyId id={secret} label={t('accounts.copyKey')} />
            {form.failure && <ErrorNotice failure={form.failure} />}
            <TextField
              label={t('accounts.code')}
              inputMode="numeric"
              autoComplete="one-time-code"
              autoFocus
              {...form.field('code')}
            />
            <div className="dialog-actions">
              <Button onClick={props.onClose}>{t('kit.cancel')}</Button>
              <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
                {t('accounts.turnOn')}
              </Button>
            </div>
          </form>
        )}
      </QueryView>
    </Dialog>
  );
}
