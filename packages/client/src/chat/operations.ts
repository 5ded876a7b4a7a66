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

/** The frame that carries it. Sending it twice does no harm: that is how an unknown outcome is settled. */
export function frameOf(operation: Operation): { type: string; fields: object } {
  switch (operation.kind) {
    case 'send': {
      const { type, ...draft } = operation.draft;
      const fields = {
        conversation: operation.conversationId,
        ...draft,
        ...(type ? { msgType: type } : {}),
        clientMessageId: operation.id,
        clientSentAt: operation.at,
      };
      return { type: 'message.send', fields };
    }
    case 'edit':
      return { type: 'message.edit', fields: { messageId: operation.messageId, ...operation.patch } };
    case 'remove':
      return { type: 'message.delete', fields: { messageId: operation.messageId } };
    case 'react':
    case 'unreact': {
      const type = operation.kind === 'react' ? 'reaction.add' : 'reaction.remove';
      return { type, fields: { messageId: operation.messageId, emoji: operation.emoji } };
    }
  }
}
