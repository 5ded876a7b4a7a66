import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { useOutsideClick } from '../hooks/use-outside-click.ts';
import { CheckIcon } from '../icons.tsx';

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  /** One of several, of which this one is chosen or not; left out for an action. */
  isChosen?: boolean;
  onSelect: () => void;
}

export interface MenuGroup {
  /** Above the items. */
  label?: string;
  items: readonly MenuItem[];
  /** In place of items, where there are none. */
  empty?: string;
}

export interface MenuProps {
  label: string;
  /** What is in the button. */
  children: ReactNode;
  className?: string;
  groups: readonly MenuGroup[];
  /** Before the items are shown: the moment to ask for permissions. */
  onOpen?: () => void;
  /** Items side by side, without a text of their own. */
  isRow?: boolean;
}

/** A button and the menu it opens: arrow keys, Home, End, letters of the label, Escape. */
export function Menu({ label, children, className = 'parley-icon-button', groups, onOpen, isRow }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useOutsideClick(isOpen && root, () => setOpen(false));

  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div className="parley-menu-root" ref={root}>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => {
          if (!isOpen) onOpen?.();
          setOpen(!isOpen);
        }}
      >
        {children}
      </button>
      {isOpen && <MenuList id={id} label={label} groups={groups} isRow={isRow ?? false} onClose={close} />}
    </div>
  );
}

interface MenuListProps {
  id: string;
  label: string;
  groups: readonly MenuGroup[];
  isRow: boolean;
  onClose: () => void;
}

function MenuList({ id, label, groups, isRow, onClose }: MenuListProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    keepInWindow(element);
    const first = element.querySelector<HTMLElement>('[aria-checked="true"]') ?? itemsOf(element)[0] ?? element;
    first.focus();
  }, []);
  return (
    <div
      ref={list}
      id={id}
      role="menu"
      aria-label={label}
      tabIndex={-1}
      className="parley-menu"
      data-row={isRow || undefined}
      onKeyDown={(event) => onMenuKey(event, onClose)}
    >
      {groups.map((group, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the groups of a menu stay where they are.
        <fieldset key={index} aria-label={group.label ?? label} className="parley-menu-group">
          {group.label && (
            <span className="parley-menu-label" aria-hidden="true">
              {group.label}
            </span>
          )}
          {group.items.length === 0 && <span className="parley-menu-empty">{group.empty}</span>}
          {group.items.map((item, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two devices may have one name.
            <Item key={place} item={item} isRow={isRow} onClose={onClose} />
          ))}
        </fieldset>
      ))}
    </div>
  );
}

function Item({ item, isRow, onClose }: { item: MenuItem; isRow: boolean; onClose: () => void }) {
  const isRadio = item.isChosen !== undefined;
  return (
    <button
      type="button"
      {...(isRadio ? { role: 'menuitemradio', 'aria-checked': item.isChosen } : { role: 'menuitem' })}
      aria-label={isRow ? item.label : undefined}
      tabIndex={-1}
      className="parley-menu-item"
      onClick={() => {
        onClose();
        item.onSelect();
      }}
    >
      {item.icon ?? (isRadio && <span className="parley-menu-mark">{item.isChosen && <CheckIcon />}</span>)}
      {!isRow && <span>{item.label}</span>}
    </button>
  );
}

const itemsOf = (menu: HTMLElement): HTMLElement[] => [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')];

function onMenuKey(event: KeyboardEvent<HTMLElement>, onClose: () => void): void {
  // Letters are shortcuts of the call outside.
  event.stopPropagation();
  if (event.key === 'Escape' || event.key === 'Tab') {
    event.preventDefault();
    onClose();
    return;
  }
  const items = itemsOf(event.currentTarget);
  const at = items.findIndex((one) => one.matches(':focus'));
  const next = nextItem(items, at, event.key);
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function nextItem(items: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  const { length } = items;
  if (key === 'ArrowDown' || key === 'ArrowRight') return items[(at + 1) % length];
  if (key === 'ArrowUp' || key === 'ArrowLeft') return items[(at - 1 + length) % length];
  if (key === 'Home') return items[0];
  if (key === 'End') return items.at(-1);
  if (key.length !== 1 || key === ' ') return undefined;
  const ahead = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return ahead.find(({ textContent }) => textContent?.trim().toLowerCase().startsWith(key.toLowerCase()));
}

/** Moved sideways as far as it takes to be whole on a small window. */
function keepInWindow(element: HTMLElement): void {
  const { left, right } = element.getBoundingClientRect();
  const margin = 8;
  const over = Math.max(0, right + margin - document.documentElement.clientWidth);
  const shift = left - over < margin ? margin - left : -over;
  element.style.translate = `${shift}px 0`;
}
