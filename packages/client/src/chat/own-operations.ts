import { SvcError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';
import type { Conversation } from './conversation-types.ts';
import type { Operation, OperationReply } from './operations.ts';
import type { Outcome } from './outbox.ts';
import type { Message, NewMessage } from './records.ts';
import type { Timeline } from './timeline.ts';

interface OwnOperationDeps {
  id: string;
  userId: string;
  runtime: Runtime;
  enqueue(operation: Operation): Promise<Outcome>;
  discard(id: string): void;
}

type OperationBody = Operation extends infer O
  ? O extends Operation
    ? Omit<O, 'id' | 'userId' | 'conversationId' | 'at'>
    : never
  : never;

export interface OwnOperations {
  readonly api: Pick<Conversation, 'send' | 'retry' | 'discard' | 'edit' | 'remove' | 'react' | 'unreact'>;
  moved(operation: Operation, isQueued: boolean): void;
  done(operation: Operation, reply: OperationReply): void;
  refused(operation: Operation, error: SvcError): void;
}

/** What this user does in a conversation: shown at once, and as the server says once it has it. */
export function createOwnOperations(
  { id: conversationId, userId, runtime, enqueue, discard }: OwnOperationDeps,
  timeline: Timeline,
  /** The list to show is another one. */
  changed: () => void,
  onError: (error: SvcError) => void,
): OwnOperations {
  async function run(body: OperationBody, show: (at: number) => void, id = runtime.newId()): Promise<void> {
    const at = Date.now();
    show(at);
    changed();
    await enqueue({ ...body, id, at, userId, conversationId });
  }

  async function deliver(id: string, draft: NewMessage): Promise<Message> {
    await run({ kind: 'send', draft }, (at) => timeline.addPending(id, draft, at, false), id);
    const found = timeline.list().findLast((message) => message.clientMessageId === id && message.senderId === userId);
    if (!found) throw new SvcError({ code: 'discarded', message: 'It was discarded.' });
    return found;
  }

  return {
    api: {
      send(message) {
        const { clientMessageId, ...draft }: NewMessage = typeof message === 'string' ? { text: message } : message;
        return deliver(clientMessageId || runtime.newId(), draft);
      },
      async retry(clientMessageId) {
        const pending = timeline.pending(clientMessageId);
        if (!pending?.error) throw new SvcError({ code: 'nothing_to_retry', message: 'No such message failed.' });
        return deliver(clientMessageId, pending.draft);
      },
      discard(target) {
        discard(target);
        timeline.drop(target);
        timeline.setEdit(target, null);
        changed();
      },
      edit(messageId, input) {
        const patch = typeof input === 'string' ? { text: input } : input;
        return run({ kind: 'edit', messageId, patch }, () => timeline.setEdit(messageId, { patch, error: null }));
      },
      remove: (messageId) => run({ kind: 'remove', messageId }, () => timeline.setRemoved(messageId, true)),
      react: (messageId, emoji) =>
        run({ kind: 'react', messageId, emoji }, () => timeline.setReaction(messageId, emoji, true)),
      unreact: (messageId, emoji) =>
        run({ kind: 'unreact', messageId, emoji }, () => timeline.setReaction(messageId, emoji, false)),
    },
    moved(operation, isQueued) {
      if (operation.kind !== 'send') return;
      timeline.setPending(operation.id, { isQueued });
      changed();
    },
    /** The numbered change of the same operation may have come before, or comes later. */
    done(operation, reply) {
      if ('message' in reply) {
        if (operation.kind === 'edit') {
          timeline.setEdit(operation.messageId, null);
          timeline.update(reply.message);
        } else timeline.upsert(reply.message);
        timeline.drop(operation.id);
      } else if ('deletedAt' in reply) timeline.confirmRemoved(reply.messageId, reply.deletedAt);
      else if ('emoji' in operation) timeline.confirmReaction(operation.messageId, operation.emoji);
      changed();
    },
    refused(operation, error) {
      if (operation.kind === 'send') timeline.setPending(operation.id, { error });
      else if (operation.kind === 'edit') timeline.setEdit(operation.messageId, { patch: operation.patch, error });
      else if (operation.kind === 'remove') timeline.setRemoved(operation.messageId, false);
      else timeline.setReaction(operation.messageId, operation.emoji, null);
      changed();
      onError(error);
    },
  };
}
