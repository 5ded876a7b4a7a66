import type { Conversation, Message } from '@parley/client/chat';
import { useRef } from 'react';
import { EditIcon, ReplyIcon, TrashIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { QUICK_EMOJI } from '../shared/quick-emoji.ts';
import { useTexts } from '../texts.tsx';
import { useChatScope } from './context.ts';
import { EmojiButton } from './emoji-button.tsx';

/** Takes it back where it is given already. */
export async function toggleReaction(
  conversation: Conversation | null,
  { id, reactions }: Message,
  emoji: string,
): Promise<void> {
  const isReacted = reactions.some((one) => one.emoji === emoji && one.reacted);
  if (id !== null) await conversation?.[isReacted ? 'unreact' : 'react'](id, emoji);
}

/** What can be done with a stored message. */
export function MessageActions({ message, messageKey }: { message: Message; messageKey: string }) {
  const texts = useTexts();
  const { conversation, userId, mayDelete, run, setEditing, onReply } = useChatScope();
  const bar = useRef<HTMLFieldSetElement>(null);
  const { id } = message;
  if (!id || !conversation) return null;

  /** The button goes with what it did: its row keeps the focus. */
  const focusRow = (): void => bar.current?.closest<HTMLElement>('.parley-row')?.focus({ preventScroll: true });
  const react = (emoji: string): void => run(toggleReaction(conversation, message, emoji));
  const isMine = message.senderId === userId;
  return (
    <fieldset ref={bar} className="parley-actions" aria-label={texts.messageActions}>
      {QUICK_EMOJI.slice(0, 3).map((emoji) => (
        <IconButton key={emoji} label={texts.reactWith(emoji)} onClick={() => react(emoji)}>
          {emoji}
        </IconButton>
      ))}
      <EmojiButton label={texts.moreReactions} onPick={react} />
      <IconButton label={texts.reply} onClick={() => onReply(message)}>
        <ReplyIcon />
      </IconButton>
      {isMine && message.text !== null && (
        <IconButton label={texts.edit} onClick={() => setEditing(messageKey)}>
          <EditIcon />
        </IconButton>
      )}
      {mayDelete(message) && (
        <IconButton
          label={texts.delete}
          onClick={() => {
            focusRow();
            run(conversation.remove(id));
          }}
        >
          <TrashIcon />
        </IconButton>
      )}
    </fieldset>
  );
}
