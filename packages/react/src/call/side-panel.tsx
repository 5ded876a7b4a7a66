import type { ReactNode } from 'react';
import { CloseIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useTexts } from '../texts.tsx';
import { ControlButton } from './control-button.tsx';

/** What can be opened beside the stage. */
export interface CallPanel {
  id: string;
  label: string;
  icon: ReactNode;
  content: ReactNode;
  /** Shown on the button: unread messages, for instance. */
  badge?: number;
}

interface PanelsProps {
  panels: readonly CallPanel[];
  open: string | null;
  onOpen: (id: string | null) => void;
}

export function PanelButtons({ panels, open, onOpen }: PanelsProps) {
  return panels.map(({ id, label, icon, badge = 0 }) => (
    <ControlButton
      key={id}
      label={label}
      hint={label}
      icon={icon}
      isPressed={open === id}
      badge={open === id ? 0 : badge}
      onClick={() => onOpen(open === id ? null : id)}
    />
  ));
}

/** Closed panels stay in the page, hidden: what they hold goes on. */
export function SidePanels({ panels, open, onOpen }: PanelsProps) {
  const texts = useTexts();
  return (
    <div className="parley-panels" hidden={open === null}>
      {panels.map(({ id, label, content }) => (
        <section key={id} className="parley-panel" aria-label={label} hidden={open !== id}>
          <header className="parley-panel-head">
            <h2>{label}</h2>
            <IconButton label={texts.close} onClick={() => onOpen(null)}>
              <CloseIcon />
            </IconButton>
          </header>
          <div className="parley-panel-content">{content}</div>
        </section>
      ))}
    </div>
  );
}
