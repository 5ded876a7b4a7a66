import assert from 'node:assert/strict';
import type { Message } from '@parley/contract';
import { ChatModel, type Command, type Expected, isOnConversation } from './model.ts';

/** One command and how it was answered, with the places in time between which that happened. */
export interface Operation {
  command: Command;
  /** The message it was about: sent or meant. */
  messageId: string;
  outcome: Expected;
  begun: number;
  ended: number;
  /** The last change that any client had received when it began. */
  received: number;
  /** The change in its answer: its own, or that of the operation it repeats. */
  change?: number;
}

/** A change as the log has it. */
export type Logged = { type: string; change: number; message?: Message } & Record<string, unknown>;

const idOf = ({ message, messageId }: Logged): string => message?.id ?? String(messageId);

/**
 * Plays the log of changes through the model: each must be an acknowledged operation and allowed where it stands,
 * and each operation must have been answered as the model would have at some moment while it was under way.
 */
export function explain(operations: readonly Operation[], log: readonly Logged[]): ChatModel {
  log.forEach(({ change }, place) => void assert.equal(change, place + 1, 'changes are numbered without a gap'));
  const ids = log.flatMap((entry) => (entry.type === 'message' ? [idOf(entry)] : []));
  const commands = log.map((entry) => commandOf(entry, operations, ids));
  const whole = modelAt(commands, commands.length);
  assertAccounted(operations, log);
  for (const operation of operations) assertExplained(operation, operations, commands);
  return whole;
}

/** The model after so many of the changes. */
function modelAt(commands: readonly Command[], count: number): ChatModel {
  const model = new ChatModel();
  for (const command of commands.slice(0, count))
    assert.equal(model.apply(command), 'ok', `${JSON.stringify(command)} is a change and cannot have been one`);
  return model;
}

/** The acknowledged operation that made this change, as a command to the model. */
function commandOf(entry: Logged, operations: readonly Operation[], ids: readonly string[]): Command {
  const makers = operations.filter(
    (one) => one.outcome === 'ok' && one.messageId === idOf(entry) && isMaker(one, entry),
  );
  const operation = makers.find(({ command }) => isSameDraft(command, entry, ids)) ?? makers[0];
  assert.ok(operation, `nobody did what change ${entry.change} says: ${entry.type}`);
  const { command } = operation;
  return 'at' in command ? { ...command, at: ids.indexOf(idOf(entry)) } : command;
}

/** Of those who sent under one key, the one whose draft it became. */
function isSameDraft(command: Command, { message }: Logged, ids: readonly string[]): boolean {
  if (command.does !== 'send' || message === undefined) return false;
  const replyTo = command.replyAt === null ? null : ids[command.replyAt];
  return message.text === command.text && message.replyTo === replyTo;
}

function isMaker({ command, change }: Operation, entry: Logged): boolean {
  if (isOnConversation(command)) return false;
  const isReaction = 'emoji' in command && command.by === entry['userId'] && command.emoji === entry['emoji'];
  switch (entry.type) {
    case 'message':
      return command.does === 'send' && change === entry.change;
    case 'message.updated':
      return command.does === 'edit' && change === entry.change;
    case 'message.deleted':
      return command.does === 'delete';
    case 'reaction.added':
      return isReaction && command.does === 'react';
    case 'reaction.removed':
      return isReaction && command.does === 'unreact';
    default:
      return false;
  }
}

/** Every acknowledged operation is in the log, as often as it can have changed something. */
function assertAccounted(operations: readonly Operation[], log: readonly Logged[]): void {
  const acknowledged = operations.filter(({ outcome }) => outcome === 'ok');
  const kinds = Map.groupBy(acknowledged, ({ command, messageId }) =>
    JSON.stringify([command.does, messageId, ...('emoji' in command ? [command.by, command.emoji] : [])]),
  );
  for (const [kind, ones] of kinds) {
    const entries = log.filter((entry) => ones.some((one) => one.messageId === idOf(entry) && isMaker(one, entry)));
    const { does } = (ones[0] as Operation).command;
    // Reacting again, deleting again and sending again under one key change nothing; an edit and an unreaction always do.
    if (does === 'edit' || does === 'unreact') assert.equal(entries.length, ones.length, `${kind} vanished`);
    else if (does === 'react') assert.ok(entries.length > 0 && entries.length <= ones.length, `${kind} vanished`);
    else assert.equal(entries.length, 1, `${kind} vanished or is there twice`);
  }
}

function assertExplained(operation: Operation, operations: readonly Operation[], commands: readonly Command[]): void {
  const byChange = Map.groupBy(operations, ({ change }) => change ?? commands.length + 1);
  const later = [...byChange]
    .filter(([, ones]) => ones.every(({ begun }) => begun > operation.ended))
    .map(([change]) => change);
  const could = new Set<Expected>();
  for (let count = operation.received; count < Math.min(commands.length + 1, ...later); count++)
    could.add(modelAt(commands, count).apply(operation.command));
  assert.ok(could.has(operation.outcome), `${JSON.stringify(operation)} was never due; ${[...could].join(' or ')} was`);
}
