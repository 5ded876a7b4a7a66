import type { Message } from '@parley/contract';
import { roleCan } from '@parley/contract';
import fc from 'fast-check';

/** Who takes part, by role; the newcomer is nobody until added. */
export const CAST = { ada: 'OWNER', ben: 'MEMBER', cy: 'GUEST', mo: 'MODERATOR' } as const;
export const USERS = ['ada', 'ben', 'cy', 'mo', 'dee'] as const;
export type User = (typeof USERS)[number];
export const NEWCOMER: User = 'dee';
type Role = 'OWNER' | 'MEMBER' | 'GUEST' | 'MODERATOR';

type Send = { does: 'send'; by: User; text: string; key: number | null; replyAt: number | null };
type Edit = { does: 'edit'; by: User; at: number; text: string };
type React = { does: 'react' | 'unreact'; by: User; at: number; emoji: string };
type OnMessage = Edit | React | { does: 'delete'; by: User; at: number } | { does: 'read'; by: User; at: number };
type OnConversation = { does: 'archive' | 'activate' | 'join' | 'leave' };

/** One command of a user; `at` picks a message of those there are. The last kind is done by the server. */
export type Command = Send | OnMessage | OnConversation;

export const isOnConversation = (command: Command): command is OnConversation => !('by' in command);

interface ModelMessage {
  sender: User;
  text: string | null;
  edited: boolean;
  deleted: boolean;
  replyTo: number | null;
  replies: number;
  reactions: Map<string, Set<User>>;
}

/** What comes of a command: done, or refused with this status. */
export type Expected = 'ok' | 400 | 403 | 404 | 409;

const index = fc.nat(30);
const by = fc.constantFrom(...USERS);
const emoji = fc.constantFrom('👍', '🎉');
const text = fc.string({ minLength: 1, maxLength: 12 }).filter((one) => one.trim() !== '');
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { freq: 2 });

export const writing: fc.Arbitrary<Command> = fc.oneof(
  {
    arbitrary: fc.record({
      does: fc.constant('send' as const),
      by,
      text,
      key: optional(fc.nat(5)),
      replyAt: optional(index),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ does: fc.constant('edit' as const), by, at: index, text }), weight: 2 },
  { arbitrary: fc.record({ does: fc.constant('delete' as const), by, at: index }), weight: 2 },
  {
    arbitrary: fc.record({ does: fc.constantFrom('react' as const, 'unreact' as const), by, at: index, emoji }),
    weight: 4,
  },
);
export const anything: fc.Arbitrary<Command> = fc.oneof(
  { arbitrary: writing, weight: 8 },
  { arbitrary: fc.record({ does: fc.constant('read' as const), by, at: index }), weight: 2 },
  { arbitrary: fc.record({ does: fc.constantFrom('archive' as const, 'activate' as const) }), weight: 1 },
  { arbitrary: fc.record({ does: fc.constantFrom('join' as const, 'leave' as const) }), weight: 1 },
);

/** The conversation as the contract describes it, with nothing in it of how the service does it. */
export class ChatModel {
  readonly messages: ModelMessage[] = [];
  readonly #roles = new Map<User, Role>(Object.entries(CAST) as [User, Role][]);
  readonly #reads = new Map<User, number>();
  readonly #keys = new Map<string, number>();
  #isArchived = false;

  /** What a command must come to, and its effect. */
  apply(command: Command): Expected {
    if (isOnConversation(command)) return this.#onConversation(command.does);
    return command.does === 'send' ? this.#send(command) : this.#onMessage(command);
  }

  #onConversation(does: OnConversation['does']): Expected {
    if (does === 'leave') return this.#roles.delete(NEWCOMER) ? 'ok' : 404;
    if (does === 'join') return this.#join();
    this.#isArchived = does === 'archive';
    return 'ok';
  }

  #join(): Expected {
    if (this.#isArchived) return 409;
    this.#roles.set(NEWCOMER, 'MEMBER');
    return 'ok';
  }

  #send({ by, text, key, replyAt }: Send): Expected {
    const role = this.#roles.get(by);
    if (!role || !roleCan(role, 'send')) return 403;
    const known = key === null ? undefined : this.#keys.get(`${by}/${key}`);
    if (this.#isArchived) return 409;
    if (known !== undefined) return 'ok';
    const replyTo = replyAt === null || this.messages.length === 0 ? null : replyAt % this.messages.length;
    if (replyTo !== null && this.messages[replyTo]?.deleted) return 400;
    if (key !== null) this.#keys.set(`${by}/${key}`, this.messages.length);
    const root = replyTo === null ? undefined : this.messages[this.rootOf(replyTo)];
    if (root) root.replies += 1;
    this.messages.push({ sender: by, text, edited: false, deleted: false, replyTo, replies: 0, reactions: new Map() });
    return this.#read(by, this.messages.length - 1);
  }

  /** The message a thread begins with. */
  rootOf(at: number): number {
    const replyTo = this.messages[at]?.replyTo ?? null;
    return replyTo === null ? at : this.rootOf(replyTo);
  }

  #onMessage(command: OnMessage): Expected {
    const message = this.messages[command.at % Math.max(this.messages.length, 1)];
    const role = this.#roles.get(command.by);
    if (!message) return 404;
    if (!role) return 403;
    if (command.does === 'read') return this.#read(command.by, command.at % this.messages.length);
    if (command.does === 'edit') return this.#edit(message, command, role);
    return command.does === 'delete' ? this.#delete(message, command.by, role) : this.#react(message, command);
  }

  #read(by: User, at: number): Expected {
    this.#reads.set(by, Math.max(this.#reads.get(by) ?? 0, at + 1));
    return 'ok';
  }

  #edit(message: ModelMessage, { by, text }: Edit, role: Role): Expected {
    if (message.sender !== by || !roleCan(role, 'send')) return 403;
    if (message.deleted || this.#isArchived) return 409;
    message.text = text;
    message.edited = true;
    return 'ok';
  }

  #delete(message: ModelMessage, by: User, role: Role): Expected {
    if (message.sender !== by && !roleCan(role, 'deleteAny')) return 403;
    if (this.#isArchived) return 409;
    const root = message.replyTo === null || message.deleted ? undefined : this.messages[this.rootOf(message.replyTo)];
    if (root) root.replies -= 1;
    message.deleted = true;
    message.text = null;
    message.reactions.clear();
    return 'ok';
  }

  #react(message: ModelMessage, { does, by, emoji }: React): Expected {
    if (message.deleted) return 404;
    if (this.#isArchived) return 409;
    const users = message.reactions.get(emoji) ?? new Set<User>();
    if (does === 'unreact') {
      if (!users.delete(by)) return 404;
      if (users.size === 0) message.reactions.delete(emoji);
      return 'ok';
    }
    message.reactions.set(emoji, users.add(by));
    return 'ok';
  }

  /** As a listing shows it, oldest first. */
  shown(): Shown[] {
    return this.messages.map(({ sender, text, edited, deleted, replies, reactions }) => ({
      sender,
      text,
      edited,
      deleted,
      replies,
      reactions: [...reactions].map(([name, users]) => `${name}${[...users].sort().join(',')}`).sort(),
    }));
  }

  /** Messages after the mark that are not deleted; sending one moves the mark to it. */
  unread(by: User): number {
    return this.messages.slice(this.#reads.get(by) ?? 0).filter(({ deleted }) => !deleted).length;
  }
}

export interface Shown {
  sender: string | null;
  text: string | null;
  edited: boolean;
  deleted: boolean;
  replies: number;
  reactions: string[];
}

export const shownOf = ({ senderId, text, edited, deleted, replyCount, reactions }: Message): Shown => ({
  sender: senderId,
  text,
  edited,
  deleted,
  replies: replyCount,
  reactions: reactions.map(({ emoji, userIds }) => `${emoji}${[...userIds].sort().join(',')}`).sort(),
});
