import type { ButtonHTMLAttributes } from 'react';

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
}

/** A button that is an icon; its label is its name and its tip. */
export function IconButton({ label, className = '', ...props }: IconButtonProps) {
  return (
    <button type="button" className={`parley-icon-button ${className}`} aria-label={label} title={label} {...props} />
  );
}
