import type { Message } from '@parley/client/chat';

const EPOCH = Date.parse('2026-03-02T08:00:00Z');

/** A stored message, one minute after the one before. */
export function sampleMessage(seq: number, more: Partial<Message> = {}): Message {
  const at = new Date(EPOCH + seq * 60_000).toISOString();
  return {
    id: `m${seq}`,
    conversationId: 'conv_sample',
    seq,
    change: seq,
    type: 'text',
    text: `Message ${seq}`,
    senderId: 'ada',
    senderRole: 'MEMBER',
    replyTo: null,
    threadRootId: null,
    replyCount: 0,
    lastReplyAt: null,
    clientMessageId: null,
    attachmentId: null,
    attachment: null,
    metadata: {},
    reactions: [],
    edited: false,
    editedAt: null,
    deleted: false,
    deletedAt: null,
    deletedBy: null,
    clientSentAt: null,
    createdAt: at,
    updatedAt: at,
    delivery: 'sent',
    error: null,
    ...more,
  };
}

const people = ['ada', 'bob', 'cleo', 'grace'] as const;
const words = 'the tide is high and the boats are out so we wait on the pier until the wind turns again'.split(' ');

/** Of many lengths, so that rows have many heights. */
export function sampleText(seq: number): string {
  const count = 3 + ((seq * 7919) % 37) * ((seq * 31) % 11 === 0 ? 4 : 1);
  return Array.from({ length: count }, (_, at) => words[(seq * 13 + at * 5) % words.length]).join(' ');
}

export const sampleMessages = (first: number, last: number): readonly Message[] =>
  Array.from({ length: last - first + 1 }, (_, at) => {
    const seq = first + at;
    const senderId = people[Math.floor(seq / 3) % people.length] ?? 'ada';
    return sampleMessage(seq, { senderId, text: `${seq}: ${sampleText(seq)}` });
  });
