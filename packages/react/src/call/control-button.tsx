import type { ReactNode } from 'react';

export interface ControlButtonProps {
  /** What it is, whatever its state. */
  label: string;
  /** What a click does now. The shortcut is added. */
  hint: string;
  icon: ReactNode;
  /** Left out for a button that is no switch. */
  isPressed?: boolean;
  /** `off`: as a warning while it is not pressed; `danger`: ends something. */
  kind?: 'off' | 'danger';
  shortcut?: string | undefined;
  isDisabled?: boolean;
  badge?: number;
  onClick: () => void;
}

/** A round button of the bar. */
export function ControlButton(props: ControlButtonProps) {
  const { label, hint, icon, isPressed, kind, shortcut, isDisabled = false, badge = 0, onClick } = props;
  return (
    <button
      type="button"
      className="parley-control"
      data-kind={kind}
      aria-label={label}
      title={shortcut ? `${hint} (${shortcut})` : hint}
      aria-pressed={isPressed}
      aria-keyshortcuts={shortcut}
      disabled={isDisabled}
      onClick={onClick}
    >
      {icon}
      {badge > 0 && <span className="parley-badge">{badge > 99 ? '99+' : badge}</span>}
    </button>
  );
}
