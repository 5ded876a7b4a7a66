import type { Message } from '@parley/client/chat';
import type { Texts } from '../texts.tsx';

/** A message in one line: who said what. */
export function saidText(message: Message, texts: Texts, nameOf: (userId: string) => string): string {
  const { senderId, text, deleted, attachment } = message;
  if (deleted) return texts.deleted;
  const said = text ?? (attachment ? texts.sentFile(attachment.filename) : '');
  return senderId === null ? said : texts.says(nameOf(senderId), said);
}
