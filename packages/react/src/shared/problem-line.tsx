export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What went wrong, in the words of the SDK. */
export function ProblemLine({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <p className="parley-problem" role="alert">
      {messageOf(error)}
    </p>
  );
}
