import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { CloseIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { PanelContext } from '../shared/panel-scope.ts';
import { useTexts } from '../texts.tsx';
import { ControlButton } from './control-button.tsx';

/** What can be opened beside the stage. */
export interface CallPanel {
  id: string;
  label: string;
  icon: ReactNode;
  content: ReactNode;
  /** Shown on the button, with what the content notified of itself. */
  badge?: number;
}

export interface Panels {
  list: readonly CallPanel[];
  open: string | null;
  toggle: (id: string) => void;
  news: Readonly<Record<string, number>>;
  notify: (id: string) => void;
}

/** Which one is open, and what happened in the others meanwhile. */
export function usePanels(list: readonly CallPanel[], first: string | null): Panels {
  const [open, setOpen] = useState(first);
  const [news, setNews] = useState<Panels['news']>({});
  const [notify] = useState(() => (id: string) => setNews((now) => ({ ...now, [id]: (now[id] ?? 0) + 1 })));
  const toggle = (id: string): void => {
    setOpen(open === id ? null : id);
    setNews((now) => ({ ...now, [id]: 0 }));
  };
  return { list, open, toggle, news, notify };
}

export function PanelButtons({ panels: { list, open, news, toggle } }: { panels: Panels }) {
  return list.map(({ id, label, icon, badge = 0 }) => (
    <ControlButton
      key={id}
      label={label}
      hint={label}
      icon={icon}
      isPressed={open === id}
      badge={open === id ? 0 : badge + (news[id] ?? 0)}
      onClick={() => toggle(id)}
    />
  ));
}

/** Closed panels stay in the page, hidden: what they hold goes on. */
export function SidePanels({ panels: { list, open, toggle, notify } }: { panels: Panels }) {
  return (
    <div className="parley-panels" hidden={open === null}>
      {list.map((panel) => (
        <SidePanel
          key={panel.id}
          panel={panel}
          isOpen={open === panel.id}
          onClose={() => toggle(panel.id)}
          onNews={notify}
        />
      ))}
    </div>
  );
}

interface SidePanelProps {
  panel: CallPanel;
  isOpen: boolean;
  onClose: () => void;
  onNews: (id: string) => void;
}

function SidePanel({ panel: { id, label, content }, isOpen, onClose, onNews }: SidePanelProps) {
  const texts = useTexts();
  const heading = useRef<HTMLHeadingElement>(null);
  const wasOpen = useRef(isOpen);
  const scope = useMemo(() => ({ isOpen, notify: () => onNews(id) }), [isOpen, onNews, id]);
  useEffect(() => {
    // On a phone it covers the button that opened it.
    if (isOpen && !wasOpen.current) heading.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return (
    <section className="parley-panel" aria-label={label} hidden={!isOpen}>
      <header className="parley-panel-head">
        <h2 ref={heading} tabIndex={-1}>
          {label}
        </h2>
        <IconButton label={texts.close} onClick={onClose}>
          <CloseIcon />
        </IconButton>
      </header>
      <div className="parley-panel-content">
        <PanelContext.Provider value={scope}>{content}</PanelContext.Provider>
      </div>
    </section>
  );
}
