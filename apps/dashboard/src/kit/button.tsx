import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { useCountdown } from './countdown.tsx';

export type ButtonVariant = 'primary' | 'secondary' | 'danger' | 'quiet';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: ButtonVariant;
  /** Shows a spinner in place of the label and keeps the button's width. */
  isBusy?: boolean;
  /** Disabled for this long, counting down: what a 429 asks for. */
  waitSeconds?: number | null;
  icon?: ReactNode;
}

export function Button({
  variant = 'secondary',
  isBusy = false,
  waitSeconds = null,
  icon,
  children,
  disabled,
  className = '',
  type = 'button',
  ...rest
}: ButtonProps) {
  const left = useCountdown(waitSeconds);
  return (
    <button
      type={type}
      className={`button button-${variant} ${className}`}
      disabled={disabled || isBusy || left > 0}
      aria-busy={isBusy || undefined}
      {...rest}
    >
      {icon}
      <span className="button-label">{left > 0 ? t('kit.tryAgainIn', { seconds: left }) : children}</span>
      {isBusy && <span className="spinner" aria-hidden="true" />}
    </button>
  );
}

/** A button that is only a picture: its name is for those who do not see it, and its tooltip. */
export function IconButton({ label, children, ...rest }: ButtonHTMLAttributes<HTMLButtonElement> & { label: string }) {
  return (
    <button type="button" className="icon-button" aria-label={label} title={label} {...rest}>
      {children}
    </button>
  );
}
