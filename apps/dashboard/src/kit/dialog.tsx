import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import type { Explained } from '../data/errors.ts';
import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';
import { TextField } from './field.tsx';
import { CloseIcon } from './icons.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Neither Escape nor a click outside closes it: what it shows would be lost. */
  isSticky?: boolean;
  /** At the side and full height, for looking at one row of a list. */
  isDrawer?: boolean;
  isWide?: boolean;
  /** Near the top and without a head of its own: what it holds says what it is. */
  isBare?: boolean;
}

/** The browser's own dialog: focus stays inside and goes back where it came from. */
export function Dialog({ title, onClose, children, isSticky = false, isBare = false, ...look }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Not an effect that runs later: it has to close while it is in the page, or the focus does not go back.
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className={`dialog ${look.isDrawer ? 'dialog-drawer' : ''} ${look.isWide ? 'dialog-wide' : ''} ${isBare ? 'dialog-bare' : ''}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isSticky) onClose();
      }}
      // Chromium lets a second Escape through onCancel; a sticky dialog takes none.
      onKeyDown={(event) => {
        if (event.key === 'Escape' && isSticky) event.preventDefault();
      }}
      onClick={(event) => {
        if (event.target === ref.current && !isSticky) onClose();
      }}
    >
      <div className="dialog-body">
        <header className={isBare ? 'visually-hidden' : 'dialog-header'}>
          <h2 id={titleId}>{title}</h2>
          {!isSticky && !isBare && (
            <button type="button" className="icon-button" aria-label={t('kit.close')} onClick={onClose}>
              <CloseIcon />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ReactNode;
  action: string;
  /** What has to be typed first, for what cannot be undone. */
  typed?: string;
  isBusy: boolean;
  failure: Explained | null;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before something is destroyed, and names it. */
export function ConfirmDialog({ title, children, action, typed, isBusy, failure, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState('');
  const isReady = typed === undefined || text === typed;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onConfirm();
        }}
      >
        <div className="stack-small">{children}</div>
        {typed !== undefined && (
          <TextField
            label={t('kit.typeToConfirm', { typed })}
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        {failure && <ErrorNotice failure={failure} />}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button
            type="submit"
            variant="danger"
            isBusy={isBusy}
            disabled={!isReady}
            waitSeconds={failure?.retryAfterSeconds ?? null}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
