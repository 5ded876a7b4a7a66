import { Chat, type Conversation } from '@parley/client/chat';
import type { Figures } from './figures.ts';

export interface ChatUser {
  conversation: Conversation;
  close(): Promise<void>;
}

/** A user in a conversation; every message of the others is timed from its send to here. */
export async function joinChat(
  url: string,
  token: string,
  room: string,
  userId: string,
  latency: Figures,
): Promise<ChatUser> {
  const chat = new Chat({ url, token });
  await chat.connect();
  const conversation = await chat.join(room, { presence: false });
  conversation.on('message', ({ text, senderId }) => {
    const sentAt = Number(text);
    if (senderId !== userId && Number.isFinite(sentAt)) latency.add(performance.now() - sentAt);
  });
  return { conversation, close: () => chat.disconnect() };
}

/** Sends at a steady rate until stopped; gives the times to the acknowledgement. */
export function sendSteadily(
  { conversation }: ChatUser,
  {
    everyMs,
    others,
    acknowledged,
    received,
  }: { everyMs: number; others: number; acknowledged: Figures; received: Figures },
): () => void {
  const send = async (): Promise<void> => {
    const sentAt = performance.now();
    acknowledged.expected += 1;
    received.expected += others;
    try {
      const { delivery } = await conversation.send(String(sentAt));
      if (delivery === 'sent') acknowledged.add(performance.now() - sentAt);
    } catch {
      // Counted as lost: it was expected.
    }
  };
  void send();
  const timer = setInterval(() => void send(), everyMs);
  return () => clearInterval(timer);
}
