import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';
import { useFilter } from '../frame/url.ts';

export interface Tab {
  id: string;
  label: string;
  panel: () => ReactNode;
}

/** Tabs whose choice is in the address, moved with the arrow keys. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const base = useId();
  const list = useRef<HTMLDivElement>(null);
  const [wanted, setWanted] = useFilter('tab');
  const active = tabs.find((tab) => tab.id === wanted) ?? tabs[0];
  if (!active) return null;

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.id === active?.id);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    setWanted(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  }

  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            className="tab"
            data-tab={tab.id}
            id={`${base}-${tab.id}`}
            aria-selected={tab === active}
            aria-controls={`${base}-panel`}
            tabIndex={tab === active ? 0 : -1}
            onClick={() => setWanted(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${active.id}`}>
        {active.panel()}
      </div>
    </>
  );
}
