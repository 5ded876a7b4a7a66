import { type ReactNode, useState } from 'react';
import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';
import { CopyTextButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';

/** Something that is shown once: it stays until the person says that it is stored. */
export function SecretDialog(props: {
  title: string;
  secret: string;
  secretLabel: string;
  copies: readonly (readonly [label: string, text: string])[];
  children: ReactNode;
  onClose: () => void;
}) {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog title={props.title} isSticky isWide onClose={props.onClose}>
      <div className="stack">
        {props.children}
        <output className="secret mono" aria-label={props.secretLabel}>
          {props.secret}
        </output>
        <div className="row">
          <CopyTextButton text={props.secret}>{t('kit.copyWhat', { what: props.secretLabel })}</CopyTextButton>
          {props.copies.map(([label, text]) => (
            <CopyTextButton key={label} text={text}>
              {label}
            </CopyTextButton>
          ))}
        </div>
        <Checkbox label={t('kit.stored')} checked={isStored} onChange={(event) => setStored(event.target.checked)} />
        <div className="dialog-actions">
          <Button variant="primary" disabled={!isStored} onClick={props.onClose}>
            {t('kit.done')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
