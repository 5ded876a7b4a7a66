import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../data/services.tsx';
import { QueryView } from '../../frame/query-view.tsx';
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
      code: /^\d{6}$/.test(code.trim()) ? undefined : 'Enter the six digits that the app shows.',
    }),
    fieldOf: { SVC_INVALID_SECOND_FACTOR: 'code' },
    submit: ({ code }) => api.call('confirmTotp', { body: { code: code.trim() } }),
    onDone: ({ recoveryCodes }) => props.onDone(recoveryCodes),
  });
  return (
    <Dialog title="Set up an authenticator app" onClose={props.onClose}>
      <QueryView query={started}>
        {({ secret, otpauthUrl }) => (
          <form className="stack" onSubmit={form.onSubmit} noValidate>
            <p>
              Scan this with your app, enter the key there, or <a href={otpauthUrl}>open it in an app on this device</a>
              . Then type the code that the app shows.
            </p>
            <QrCode text={otpauthUrl} label="QR image of the key below, for the camera of an authenticator app" />
            <CopyId id={secret} label="Copy key" />
            {form.failure && <ErrorNotice failure={form.failure} />}
            <TextField
              label="Code"
              inputMode="numeric"
              autoComplete="one-time-code"
              autoFocus
              {...form.field('code')}
            />
            <div className="dialog-actions">
              <Button onClick={props.onClose}>Cancel</Button>
              <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
                Turn on
              </Button>
            </div>
          </form>
        )}
      </QueryView>
    </Dialog>
  );
}
