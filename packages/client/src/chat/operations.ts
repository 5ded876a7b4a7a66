import type { ChatClientFrame, ChatClientFrames, ReplyTo } from '@parley/contract';
import type { MessagePatch, NewMessage } from './records.ts';

/** Something this user did, until the server has it. It can be stored as it is. */
export type Operation = {
  /** For a send its `clientMessageId`. */
  id: string;
  userId: string;
  conversationId: string;
  /** Epoch ms. */
  at: number;
} & (
  | { kind: 'send'; draft: NewMessage }
  | { kind: 'edit'; messageId: string; patch: MessagePatch }
  | { kind: 'remove'; messageId: string }
  | { kind: 'react' | 'unreact'; messageId: string; emoji: string }
);

type OperationType = 'message.send' | 'message.edit' | 'message.delete' | 'reaction.add' | 'reaction.remove';
export type OperationFrame = Extract<ChatClientFrame, { type: OperationType }>;
/** What the server says of an operation that it has done. */
export type OperationReply = ReplyTo<ChatClientFrames[OperationType]>;

/** The frame that carries it. Sending it twice does no harm: that is how an unknown outcome is settled. */
export function frameOf(operation: Operation): OperationFrame {
  switch (operation.kind) {
    case 'send': {
      const { type, ...draft } = operation.draft;
      return {
        type: 'message.send',
        conversation: operation.conversationId,
        ...draft,
        ...(type && { msgType: type }),
        clientMessageId: operation.id,
        clientSentAt: operation.at,
      };
    }
    case 'edit':
      return { type: 'message.edit', messageId: operation.messageId, ...operation.patch };
    case 'remove':
      return { type: 'message.delete', messageId: operation.messageId };
    case 'react':
    case 'unreact': {
      const type = operation.kind === 'react' ? 'reaction.add' : 'reaction.remove';
      return { type, messageId: operation.messageId, emoji: operation.emoji };
    }
  }
}
