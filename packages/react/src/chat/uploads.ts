import type { Conversation } from '@parley/client/chat';
import { useCallback, useEffect, useRef, useState } from 'react';

export interface Upload {
  id: number;
  file: File;
  /** 0 to 1. */
  done: number;
  hasFailed: boolean;
}

export interface Uploads {
  list: readonly Upload[];
  add(files: Iterable<File>): void;
  retry(upload: Upload): void;
  /** Ends it, wherever it is. */
  remove(upload: Upload): void;
}

/** Files on their way: each is sent as a message of its own once it is stored. */
export function useUploads(conversation: Conversation | null, replyTo: string | null): Uploads {
  const [list, setList] = useState<readonly Upload[]>([]);
  const running = useRef(new Map<number, AbortController>());
  const counter = useRef(0);
  const change = useCallback((id: number, part: Partial<Upload> | null) => {
    setList((before) => before.flatMap((one) => (one.id === id ? (part ? [{ ...one, ...part }] : []) : [one])));
  }, []);

  useEffect(() => {
    const controllers = running.current;
    return () => {
      for (const controller of controllers.values()) controller.abort();
    };
  }, []);

  const start = async ({ id, file }: Upload): Promise<void> => {
    if (!conversation) return;
    const controller = new AbortController();
    running.current.set(id, controller);
    change(id, { done: 0, hasFailed: false });
    try {
      const onProgress = (done: number): void => change(id, { done });
      const { attachmentId } = await conversation.upload(file, { onProgress, signal: controller.signal });
      change(id, null);
      await conversation.send({ attachmentId, ...(replyTo === null ? {} : { replyTo }) });
    } catch {
      if (!controller.signal.aborted) change(id, { hasFailed: true });
    } finally {
      running.current.delete(id);
    }
  };
  return {
    list,
    add(files) {
      const added = Array.from(files, (file) => ({ id: ++counter.current, file, done: 0, hasFailed: false }));
      setList((before) => [...before, ...added]);
      for (const upload of added) void start(upload);
    },
    retry: (upload) => void start(upload),
    remove({ id }) {
      running.current.get(id)?.abort();
      change(id, null);
    },
  };
}
