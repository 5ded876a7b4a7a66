import { type ReactNode, useEffect, useId, useRef } from 'react';
import { CloseIcon } from '../icons.tsx';
import { useTexts } from '../texts.tsx';
import { IconButton } from './icon-button.tsx';

/** The browser's own modal dialog: it keeps the focus, and Escape closes it. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const texts = useTexts();
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog ref={ref} className="parley parley-dialog" aria-labelledby={id} onClose={onClose}>
      <header className="parley-dialog-head">
        <h2 id={id}>{title}</h2>
        <IconButton label={texts.close} onClick={() => ref.current?.close()}>
          <CloseIcon />
        </IconButton>
      </header>
      {children}
    </dialog>
  );
}
