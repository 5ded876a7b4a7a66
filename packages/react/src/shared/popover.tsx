import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef } from 'react';
import type { useOutsideClick } from '../hooks/use-outside-click.ts';

export interface PopoverProps {
  label: string;
  /** The button that opened it: it is placed beside it, and gets the focus back. */
  opener: HTMLElement;
  onClose: () => void;
  children: ReactNode;
  /** Given, not imported: it is loaded later, and the kit need not be cut for it. */
  useOutsideClick: typeof useOutsideClick;
}

const GAP_PX = 6;

/** A small dialog beside its button, inside of the window wherever that is. Escape and a click elsewhere close it. */
export function Popover({ label, opener, onClose, children, useOutsideClick }: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  useOutsideClick(box, (target) => {
    if (!opener.contains(target)) onClose();
  });

  useLayoutEffect(() => {
    if (!box.current) return;
    const { top, bottom, right } = opener.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height, style } = box.current;
    const above = top - height - GAP_PX;
    style.top = `${above >= GAP_PX ? above : Math.min(bottom + GAP_PX, innerHeight - height - GAP_PX)}px`;
    style.left = `${Math.max(GAP_PX, Math.min(right - width, innerWidth - width - GAP_PX))}px`;
    box.current.querySelector('button')?.focus({ preventScroll: true });
  }, [opener]);

  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key !== 'Escape') return;
    onClose();
    opener.focus();
  };
  return (
    <div ref={box} className="parley-popover" role="dialog" aria-label={label} onKeyDown={onKeyDown}>
      {children}
    </div>
  );
}
