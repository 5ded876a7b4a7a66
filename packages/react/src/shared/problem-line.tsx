import { ParleyError } from '@parley/client';
import { useTexts } from '../texts.tsx';

/** What went wrong: the text of its code, or else the words of the error itself. */
export function useProblem(error: unknown): string {
  const { errors } = useTexts();
  const own = ParleyError.is(error) ? errors[error.code] : undefined;
  return own ?? (error instanceof Error ? error.message : String(error));
}

export function ProblemLine({ error }: { error: unknown }) {
  const text = useProblem(error);
  if (error === null || error === undefined) return null;
  return (
    <p className="parley-problem" role="alert">
      {text}
    </p>
  );
}
