import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNotice } from './error-notice.tsx';
import type { Form } from './form.ts';

interface FormDialogProps<V extends Record<string, string>> {
  title: string;
  form: Form<V>;
  /** What the button says that sends it. */
  action: string;
  onClose: () => void;
  children: ReactNode;
  isWide?: boolean;
  isDanger?: boolean;
}

/** A form in a dialog: what went wrong above its fields, below them the way out and the way on. */
export function FormDialog<V extends Record<string, string>>(props: FormDialogProps<V>) {
  const { title, form, action, onClose, children, isWide = false, isDanger = false } = props;
  return (
    <Dialog title={title} isWide={isWide} onClose={onClose}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        {children}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button
            type="submit"
            variant={isDanger ? 'danger' : 'primary'}
            isBusy={form.isBusy}
            waitSeconds={form.waitSeconds}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
