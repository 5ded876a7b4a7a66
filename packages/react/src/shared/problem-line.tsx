import { ParleyError } from '@parley/client';
import { useTexts } from '../texts.tsx';

/** What went wrong, for the people in front of the page. */
export function useProblem(error: unknown): string {
  const { errors } = useTexts();
  if (!ParleyError.is(error)) return (error as Partial<Error> | null | undefined)?.message ?? String(error);
  const { code, kind, message, reason = '' } = error as ParleyError & { reason?: string };
  // The words of an error are for developers, those about a device apart.
  return errors[code] ?? errors[reason] ?? (kind === 'media' ? message : errors[kind]) ?? message;
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
