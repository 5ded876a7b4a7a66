import { SvcError } from '@parley/client';

/** What went wrong, in words, with what a developer needs to look it up. */
export function Problem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  const known = SvcError.is(error) ? error : null;
  return (
    <p className="problem" role="alert">
      {known?.message ?? String(error)}
      {known && <code> {known.code}</code>}
      {known?.requestId ? <code> {known.requestId}</code> : null}
    </p>
  );
}
