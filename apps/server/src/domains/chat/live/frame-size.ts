import type { Message, ReactionSummary } from '@parley/contract';

/** What a record may take of a frame of 65536 bytes. */
export const recordBytesMax = 60_000;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * A record as a frame can carry it; only reactions can make one larger. Who reacted goes first, then the latest emoji:
 * REST has them all.
 */
export function fitting<T extends { reactions: readonly ReactionSummary[] }>(record: T, bytesMax: number): T {
  let over = bytesOf(record) - bytesMax;
  if (over <= 0) return record;
  const reactions = record.reactions.map((one) => ({ ...one, userIds: [] }));
  over -= bytesOf(record.reactions) - bytesOf(reactions);
  while (over > 0 && reactions.length > 0) over -= bytesOf(reactions.pop()) + 1;
  return { ...record, reactions };
}

/** The JSON of a page of history or changes, each of its records made to fit. */
export function fittingPage(text: string, recordMax: number): string {
  // The store wrote it.
  const { messages, changes, ...rest } = JSON.parse(text) as {
    messages?: Message[];
    changes?: { message?: Message }[];
  };
  return JSON.stringify({
    messages: messages?.map((one) => fitting(one, recordMax)),
    changes: changes?.map((one) => (one.message ? { ...one, message: fitting(one.message, recordMax) } : one)),
    ...rest,
  });
}
