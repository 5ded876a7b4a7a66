import { ParleyError } from '@parley/client';
import { useProblem } from '@parley/react';

/** What went wrong, in words, with what a developer needs to look it up. */
export function Problem({ error }: { error: unknown }) {
  const text = useProblem(error);
  if (error === null || error === undefined) return null;
  const known = ParleyError.is(error) ? error : null;
  return (
    <p className="problem" role="alert">
      {text}
      {known && <code> {known.code}</code>}
      {known?.requestId ? <code> {known.requestId}</code> : null}
    </p>
  );
}
