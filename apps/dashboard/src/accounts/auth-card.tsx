import { type ReactNode, useEffect } from 'react';

/** The card that every page before signing in is. */
export function AuthCard({ title, children, foot }: { title: string; children: ReactNode; foot?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  return (
    <div className="auth">
      <main className="auth-card">
        <p className="brand auth-brand">
          <img src="/favicon.svg" alt="" width="24" height="24" />
          Parley
        </p>
        <h1>{title}</h1>
        {children}
        {foot && <div className="auth-foot">{foot}</div>}
      </main>
    </div>
  );
}
