import type { ReactNode } from 'react';
import { useTexts } from '../texts.tsx';

interface CallOverProps {
  title: ReactNode;
  onRejoin: () => void;
  children?: ReactNode;
}

/** In place of a call that was left or ended. */
export function CallOver({ title, onRejoin, children }: CallOverProps) {
  const texts = useTexts();
  return (
    <div className="parley parley-left" role="alert">
      {title}
      {children}
      <button type="button" className="parley-button" data-kind="primary" onClick={onRejoin}>
        {texts.rejoin}
      </button>
    </div>
  );
}
