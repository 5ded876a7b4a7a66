import type { Conversation } from '@parley/client/chat';
import { useEffect, useState } from 'react';
import { useLatest } from '../hooks/use-latest.ts';

export interface Upload {
  id: number;
  file: File;
  /** 0 to 1. */
  done: number;
  hasFailed: boolean;
  ending: AbortController;
}

export interface Uploads {
  list: readonly Upload[];
  add(files: Iterable<File>): void;
  retry(upload: Upload): void;
  /** Ends it, wherever it is. */
  remove(upload: Upload): void;
}

let made = 0;

/** Files on their way: each is sent as a message of its own once it is stored. */
export function useUploads(conversation: Conversation | null, replyTo: string | null): Uploads {
  const [list, setList] = useState<readonly Upload[]>([]);
  const latest = useLatest(list);
  useEffect(
    () => () => {
      for (const { ending } of latest.current) ending.abort();
    },
    [],
  );

  const change = (id: number, part: Partial<Upload>): void =>
    setList((before) => before.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const forget = (id: number): void => setList((before) => before.filter((one) => one.id !== id));
  const start = async ({ id, file, ending: { signal } }: Upload): Promise<void> => {
    change(id, { done: 0, hasFailed: false });
    try {
      const onProgress = (done: number): void => change(id, { done });
      const stored = await conversation?.upload(file, { onProgress, signal });
      forget(id);
      if (stored) await conversation?.send({ ...stored, ...(replyTo === null ? {} : { replyTo }) });
    } catch {
      if (!signal.aborted) change(id, { hasFailed: true });
    }
  };
  return {
    list,
    add(files) {
      const added = Array.from(files, (file) => ({
        id: ++made,
        file,
        done: 0,
        hasFailed: false,
        ending: new AbortController(),
      }));
      setList((before) => [...before, ...added]);
      for (const upload of added) void start(upload);
    },
    retry: (upload) => void start(upload),
    remove({ id, ending }) {
      ending.abort();
      forget(id);
    },
  };
}
