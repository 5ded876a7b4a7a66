import { useServices, useSession } from '../data/services.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Over the page when the session has ended: the page stays, and what was asked for is done after signing in. */
export function ExpiredDialog() {
  const { session } = useServices();
  const state = useSession();
  if (state.kind !== 'expired') return null;
  return (
    <Dialog title={t('accounts.signInAgain')} isSticky onClose={() => {}}>
      <p>{t('accounts.sessionOver')}</p>
      <SignInForm email={state.user.email} onDone={session.accept} />
      <Button variant="quiet" onClick={() => void session.signOut()}>
        {t('accounts.leave')}
      </Button>
    </Dialog>
  );
}
