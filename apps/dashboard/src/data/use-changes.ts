import type { Environment } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { followChanges, isFed, onFedChange } from './change-feed.ts';
import { isShown } from './change-queries.ts';
import { isLimited } from './queries.ts';
import { useServices } from './services.tsx';

/** While this is mounted, what the page shows is asked for again when the service tells that it changed. */
export function useChanges(projectId: string, environment: Environment): void {
  const { session } = useServices();
  const client = useQueryClient();
  useEffect(() => {
    const leaving = new AbortController();
    const ask = (token: string, signal: AbortSignal): Promise<Response> =>
      fetch(`/v1/projects/${projectId}/changes?environment=${environment}`, {
        headers: { authorization: `Bearer ${token}` },
        signal,
      });
    async function open(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
      const token = await session.token();
      const answer = await ask(token, signal);
      const { ok, body } = answer.status === 401 ? await ask(await session.replace(token), signal) : answer;
      if (!ok || body === null) throw new Error('no stream of changes');
      return body;
    }
    void followChanges(
      {
        open,
        tell: (changed) =>
          void client.invalidateQueries({
            predicate: ({ queryKey, state }) => isShown(queryKey, changed) && !isLimited(state),
          }),
        isVisible: () => document.visibilityState === 'visible',
        visibilityChange: (signal) => once(document, 'visibilitychange', signal),
        wait,
      },
      leaving.signal,
    );
    return () => leaving.abort();
  }, [client, session, projectId, environment]);
}

/** Whether pages are told of changes. */
export const useIsFed = (): boolean => useSyncExternalStore(onFedChange, isFed);

const once = (target: EventTarget, type: string, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      target.removeEventListener(type, done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    target.addEventListener(type, done);
    signal.addEventListener('abort', done);
  });

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
