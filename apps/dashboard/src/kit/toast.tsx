import { createContext, type ReactNode, use, useCallback, useMemo, useRef, useState } from 'react';
import { announce } from './live.tsx';

type Show = (text: string) => void;

const ToastContext = createContext<Show>(() => {});
export const useToast = (): Show => use(ToastContext);

const visibleMs = 5_000;

/** Short confirmations at the edge of the page. What went wrong is never said here: it stays where it happened. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly { id: number; text: string }[]>([]);
  const nextId = useRef(1);
  const show = useCallback<Show>((text) => {
    const id = nextId.current++;
    setToasts((now) => [...now, { id, text }]);
    announce(text);
    setTimeout(() => setToasts((now) => now.filter((toast) => toast.id !== id)), visibleMs);
  }, []);
  const value = useMemo(() => show, [show]);
  return (
    <ToastContext value={value}>
      {children}
      <div className="toasts" aria-hidden="true">
        {toasts.map(({ id, text }) => (
          <div key={id} className="toast">
            {text}
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
