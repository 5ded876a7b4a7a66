import { type ReactNode, useId, useRef } from 'react';

const gap = 4;

/** A button that opens a small panel beside it; Escape, a click outside or a choice closes it. */
export function Popover({
  label,
  panelLabel = label,
  button,
  buttonClass = 'button button-secondary',
  align = 'start',
  children,
}: {
  /** The button's name where `button` is only a picture. */
  label?: string;
  /** The panel's name, where the button has none to lend. */
  panelLabel?: string;
  button: ReactNode;
  buttonClass?: string;
  align?: 'start' | 'end';
  children: (close: () => void) => ReactNode;
}) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);

  /** Under the button, inside the window. */
  function place(): void {
    if (!opener.current || !panel.current) return;
    const from = opener.current.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = panel.current;
    const left = align === 'start' ? from.left : from.right - width;
    const below = from.bottom + gap;
    const top = below + height > innerHeight && from.top - gap > height ? from.top - gap - height : below;
    panel.current.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
    panel.current.style.top = `${top}px`;
  }

  const close = (): void => panel.current?.hidePopover();
  return (
    <>
      <button
        type="button"
        ref={opener}
        className={buttonClass}
        popoverTarget={id}
        aria-label={label}
        title={label}
        aria-haspopup="dialog"
      >
        {button}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        className="popover"
        role="dialog"
        aria-label={panelLabel}
        onToggle={(event) => {
          if (event.newState === 'open') {
            place();
            panel.current?.querySelector<HTMLElement>('a, button, input')?.focus();
          }
        }}
      >
        {children(close)}
      </div>
    </>
  );
}
