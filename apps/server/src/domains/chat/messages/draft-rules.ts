import { fail, type Limits, type MessageType, type SendMessage, serverMessageTypes } from '@parley/contract';
import { metadataJson } from '../../../core/safe-json.ts';
import { refuse } from '../../../core/validation.ts';
import type { ChatCaller } from '../callers.ts';
import type { Source } from '../forwards/forwards.ts';
import { assertAlone, wordsOf } from '../polls/poll-draft.ts';
import type { Draft } from './send-store.ts';

/** What a message says. */
export type Content = Pick<Draft, 'type' | 'text' | 'metadata' | 'link'>;

/** Everything about a draft that needs no look at the database. */
export function checkContent(caller: ChatCaller, draft: SendMessage, limits: Limits): Content {
  if (draft.poll || draft.forward) return checkExtra(draft, limits);
  const { text, metadata } = draft;
  const { attachmentId } = filesOf(draft);
  assertFiles(draft);
  const type = draft.type ?? (attachmentId !== undefined && text === undefined ? 'attachment' : 'text');
  if (caller.kind === 'chatToken' && serverMessageTypes.includes(type)) fail('SVC_MESSAGE_TYPE_FORBIDDEN');
  if (text !== undefined) assertTextFits(text, limits.CHAT_MAX_TEXT_LENGTH);
  if (metadata) metadataJson(metadata, limits.CHAT_MAX_METADATA_BYTES);
  const missing = missingField(type, { ...draft, attachmentId });
  if (missing) refuse([{ field: missing, rule: 'required', message: `A message of type ${type} needs ${missing}.` }]);
  return { type, text, metadata: metadata ?? undefined, link: undefined };
}

function assertFiles({ attachmentId, attachmentIds }: SendMessage): void {
  if (attachmentIds === undefined) return;
  const problem =
    attachmentId !== undefined
      ? { rule: 'exclusive', message: 'Give attachmentId or attachmentIds, not both.' }
      : { rule: 'unique', message: 'A file is in a message once.' };
  const isTwice = new Set(attachmentIds).size < attachmentIds.length;
  if (attachmentId !== undefined || isTwice) refuse([{ field: 'attachmentIds', ...problem }]);
}

/** A poll is its own words; what is forwarded is read when it is sent. */
function checkExtra(draft: SendMessage, limits: Limits): Content {
  assertAlone(draft, draft.poll ? 'poll' : 'forward', limits);
  const text = draft.poll ? wordsOf(draft.poll) : undefined;
  if (text !== undefined) assertTextFits(text, limits.CHAT_MAX_TEXT_LENGTH);
  return { type: 'text', text, metadata: draft.metadata ?? undefined, link: undefined };
}

type Given = Pick<SendMessage, 'text' | 'metadata'> & { attachmentId: string | undefined };

function missingField(type: MessageType, { text, attachmentId, metadata }: Given): string | null {
  if (type === 'attachment') return attachmentId === undefined ? 'attachmentId' : null;
  if (text !== undefined || (attachmentId !== undefined && type !== 'text')) return null;
  return type === 'custom' && metadata ? null : 'text';
}

/** One is stored as it always was, however it was named. */
export function filesOf({ attachmentId, attachmentIds }: SendMessage): Pick<Draft, 'attachmentId' | 'attachmentIds'> {
  const isMany = attachmentIds !== undefined && attachmentIds.length > 1;
  return { attachmentId: attachmentIds?.[0] ?? attachmentId, attachmentIds: isMany ? attachmentIds : undefined };
}

/** The words of another message, and its files. */
export const forwarding = ({ metadata }: Content, { text, attachmentIds }: Source): Content => ({
  type: text === null && attachmentIds.length > 0 ? 'attachment' : 'text',
  text: text ?? undefined,
  metadata,
  link: undefined,
});

/** Text is counted in code points: one for a letter, one for most emoji. */
export function assertTextFits(text: string, limit: number): void {
  // UTF-16 units are never fewer than code points: most texts need no counting.
  if (text.length <= limit) return;
  let actual = 0;
  for (const _point of text) actual++;
  if (actual > limit) fail('SVC_TEXT_TOO_LONG', { limit, actual });
}
