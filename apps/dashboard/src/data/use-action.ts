import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { type Explained, explain } from './errors.ts';

export interface Action<In, Out> {
  run(input: In): Promise<Out | undefined>;
  isBusy: boolean;
  failure: Explained | null;
  clear(): void;
}

/** A write: busy while it runs, its failure explained, and nothing thrown into the page. */
export function useAction<In, Out>(
  perform: (input: In) => Promise<Out>,
  { onDone }: { onDone?: (out: Out, input: In) => unknown } = {},
): Action<In, Out> {
  const [failure, setFailure] = useState<Explained | null>(null);
  const mutation = useMutation({ mutationFn: perform });
  return {
    isBusy: mutation.isPending,
    failure,
    clear: () => setFailure(null),
    async run(input) {
      setFailure(null);
      try {
        const out = await mutation.mutateAsync(input);
        await onDone?.(out, input);
        return out;
      } catch (error) {
        setFailure(explain(error));
        return undefined;
      }
    },
  };
}
