import type { Sql } from '../../../core/sql.ts';

/** What no draft of a batch refers to, the batch is not asked for: most have neither answers nor files. */
export interface References {
  messages: boolean;
  files: boolean;
  /** Some message has several. */
  manyFiles: boolean;
  mentions: boolean;
  links: boolean;
  /** A poll, or what is forwarded. */
  extras: boolean;
}

/** Far from the peak most batches are of one message, which needs no list, no numbering and no grouping (ADR 280). */
export interface Shape extends References {
  /** Into the table that only the sender reads (ADR 211). */
  inShadow: boolean;
  /** Some sender was in the shadow once. */
  isOnceShadowed: boolean;
  isLone: boolean;
  /** Some message is of a direct conversation. */
  isDirect: boolean;
  /** A user has several in one conversation: where it is in slow mode, the batch must see what is beside it. */
  isCrowded: boolean;
}

/** The parts of the statement that differ between a message for all and one that is its sender's alone. */
export interface SendWay {
  /** Where the message is that this one repeats. */
  repeatedAt: Sql;
  /** What stands in the way of a sender, and of an answer. */
  problems(shape: Shape): Sql;
  replyProblems: Sql;
  /** Where a repeat, and what is answered, is looked for beside the messages for all. */
  repeats: Sql;
  replyTarget: Sql;
  /** The conversation, with the numbers before the first of the batch. */
  bumped(shape: Shape): Sql;
  numbers: Sql;
  times: Sql;
  /** All that is written, its event last. */
  stored(shape: Shape): Sql;
}
