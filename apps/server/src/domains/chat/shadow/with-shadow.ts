import { ServiceError } from '@parley/contract';
import { RawJson } from '../../../core/handlers.ts';
import type { Moderator } from '../callers.ts';
import type { Messages } from '../messages/edit.ts';
import type { Shadow } from './shadow.ts';
import type { ShadowEntry } from './shadow-store.ts';

const isNotFound = (error: unknown): boolean => error instanceof ServiceError && error.code === 'SVC_MESSAGE_NOT_FOUND';

/** What is no message of all may be one of the shadow: only then is it looked for there. */
export async function orInShadow<T, Shadowed = T>(
  shadow: Pick<Shadow, 'find'>,
  { caller, messageId }: { caller: Moderator; messageId: string },
  ofAll: () => Promise<T>,
  ofShadow: (entry: ShadowEntry) => Promise<Shadowed>,
): Promise<T | Shadowed> {
  try {
    return await ofAll();
  } catch (error) {
    const entry = isNotFound(error) ? await shadow.find(caller, messageId) : undefined;
    if (!entry) throw error;
    return ofShadow(entry);
  }
}

/** Messages, those of the shadow among them for whom they are for. */
export function withShadow(messages: Messages, shadow: Shadow): Messages {
  return {
    ...messages,
    get: (caller, messageId) =>
      orInShadow(shadow, { caller, messageId }, () => messages.get(caller, messageId), shadow.get),
    async findSent(caller, messageId) {
      const sent = await messages.findSent(caller, messageId);
      const entry = sent ? undefined : await shadow.find(caller, messageId);
      return entry ? new RawJson(await shadow.textOf(entry), { isRepeat: true }) : sent;
    },
    edit: (caller, messageId, draft) =>
      orInShadow(
        shadow,
        { caller, messageId },
        () => messages.edit(caller, messageId, draft),
        async (entry) => {
          messages.assertMayEdit(caller, entry, draft);
          return shadow.edit(caller, entry, draft);
        },
      ),
    remove: (caller, messageId, named) =>
      orInShadow(
        shadow,
        { caller, messageId },
        () => messages.remove(caller, messageId, named),
        (entry) => shadow.remove(caller, entry, named),
      ),
  };
}
