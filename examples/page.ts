/** What the browser examples take from the page they are on. */
import type { Message } from '@parley/client/chat';
import type { ConversationEntry } from '@parley/client/chat-store';

const list = (): Element => document.querySelector('#messages') ?? document.body;

function lineOf(message: Message): HTMLElement {
  const line = document.createElement('p');
  line.dataset.id = message.id ?? '';
  line.textContent = message.text;
  return line;
}

export const fetchChatToken = (): Promise<string> => fetch('/api/chat-token').then((r) => r.text());
export const prepend = (message: Message): void => list().prepend(lineOf(message));
export const append = (message: Message): void => list().append(lineOf(message));
export const showMessage = append;
export function showList(entries: readonly ConversationEntry[]): void {
  document.title = entries.map(({ title, unread }) => `${title} (${unread})`).join(', ');
}
export function paint(messageId: string, emoji: string, userId: string): void {
  document.body.dataset.reaction = `${messageId} ${emoji} ${userId}`;
}
export function toast(text: string, options: { retry: boolean }): void {
  document.body.dataset.toast = `${text} ${options.retry}`;
}

export const stage = document.querySelector<HTMLElement>('#stage') ?? document.body;
export const id = new URLSearchParams(location.search).get('stream') ?? '';
