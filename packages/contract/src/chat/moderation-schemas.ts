import { type Static, Type } from 'typebox';
import { Line, Nullable, PageQuery, Timestamp } from '../schema.ts';

export const SanctionKind = Type.Enum(['BAN', 'MUTE', 'SHADOW']);
export type SanctionKind = Static<typeof SanctionKind>;

/** A ban, mute or shadow that is in force. */
export const Sanction = Type.Object({
  kind: SanctionKind,
  userId: Type.String(),
  /** Null: in the whole environment. */
  conversationId: Nullable(Type.String()),
  /** Null: for good. */
  until: Nullable(Timestamp),
  reason: Nullable(Type.String()),
  /** The moderator, `server` for an API key, or `dashboard`: then the audit log says who. */
  imposedBy: Type.String(),
  createdAt: Timestamp,
});
export type Sanction = Static<typeof Sanction>;

export const ImposeSanction = Type.Object({
  /** Without it, for good. */
  until: Type.Optional(Timestamp),
  /** The user is told, except of a shadow. */
  reason: Type.Optional(Line(1, 256)),
});
export type ImposeSanction = Static<typeof ImposeSanction>;

export const WordAction = Type.Enum(['reject', 'mask', 'flag']);
export const LinkPolicy = Type.Enum(['allowed', 'forbidden', 'moderators']);
export type LinkPolicy = Static<typeof LinkPolicy>;

export const WordList = Type.Object({
  name: Line(1, 64),
  /** Whole words or phrases, whatever their case and accents. */
  words: Type.Optional(Type.Array(Line(1, 64), { maxItems: 2_000 })),
  /** Regular expressions without lookaround and backreferences, whatever the case. */
  patterns: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 50 })),
  action: WordAction,
});
export type WordList = Static<typeof WordList>;

/** What an environment wants of the messages of its users. */
export const ModerationSettings = Type.Object({
  wordLists: Type.Array(WordList),
  links: LinkPolicy,
  updatedAt: Nullable(Timestamp),
});
export type ModerationSettings = Static<typeof ModerationSettings>;

export const SetModeration = Type.Object({
  wordLists: Type.Optional(Type.Array(WordList, { maxItems: 20 })),
  /** `moderators`: only they send links. */
  links: Type.Optional(LinkPolicy),
});
export type SetModeration = Static<typeof SetModeration>;

/** The same for webhooks: how many words a list has, and none of them. */
export const ModerationSummary = Type.Object({
  wordLists: Type.Array(
    Type.Object({ name: Type.String(), action: WordAction, words: Type.Integer(), patterns: Type.Integer() }),
  ),
  links: LinkPolicy,
});
export type ModerationSummary = Static<typeof ModerationSummary>;

export const ReportStatus = Type.Enum(['OPEN', 'RESOLVED']);
export type ReportStatus = Static<typeof ReportStatus>;

export const ReportsQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(ReportStatus),
  /** Only of this one; a chat token must be allowed to moderate in it. */
  conversation: Type.Optional(Line(1, 128)),
});
export type ReportsQuery = Static<typeof ReportsQuery>;

export const ReportReason = Type.Enum(['spam', 'harassment', 'hate', 'violence', 'sexual', 'illegal', 'other']);

/** A message that somebody, or a word list, wants looked at. */
export const ChatReport = Type.Object({
  id: Type.String(),
  conversationId: Type.String(),
  messageId: Type.String(),
  senderId: Nullable(Type.String()),
  source: Type.Enum(['USER', 'WORD_LIST']),
  /** Null for those of word lists. */
  reporterId: Nullable(Type.String()),
  /** Of users one of `ReportReason`; of word lists their names. */
  reason: Type.String(),
  note: Nullable(Type.String()),
  status: ReportStatus,
  /** What it was resolved with. */
  action: Nullable(Type.String()),
  resolvedAt: Nullable(Timestamp),
  createdAt: Timestamp,
});
export type ChatReport = Static<typeof ChatReport>;

/** The same without the note, in which users quote what was written: for the dashboard. */
export const ReportMetadata = Type.Omit(ChatReport, ['note']);
export type ReportMetadata = Static<typeof ReportMetadata>;

export const ReportMessage = Type.Object({
  reason: ReportReason,
  note: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
});
export type ReportMessage = Static<typeof ReportMessage>;

export const ResolveReport = Type.Object({
  action: Type.Enum(['none', 'delete_message', 'mute', 'ban', 'shadow']),
  /** Of a mute, ban or shadow: in all chat of the environment, not only in the conversation. Not by chat tokens. */
  everywhere: Type.Optional(Type.Boolean()),
  ...ImposeSanction.properties,
});
export type ResolveReport = Static<typeof ResolveReport>;

export const HookFailure = Type.Enum(['open', 'closed']);
export type HookFailure = Static<typeof HookFailure>;

/** The call to your backend before a message of a user is stored. */
export const ModerationHook = Type.Object({
  url: Type.String(),
  timeoutMs: Type.Integer(),
  /** What becomes of a message when there is no answer: `open` lets it pass. */
  onFailure: HookFailure,
  /** The last characters of the signing secret. */
  secretHint: Type.String(),
});
export type ModerationHook = Static<typeof ModerationHook>;

/** All of it in one, for the dashboard. */
export const ModerationOverview = Type.Object({
  ...ModerationSettings.properties,
  /** Null: nobody is asked. */
  hook: Nullable(ModerationHook),
  /** The same for files, before they can be fetched. */
  scan: Nullable(ModerationHook),
  linkPreviews: Type.Boolean(),
});
export type ModerationOverview = Static<typeof ModerationOverview>;

/** The same with its secret, when that was just made. */
export const NewModerationHook = Type.Object({
  ...ModerationHook.properties,
  secret: Nullable(Type.String()),
});
export type NewModerationHook = Static<typeof NewModerationHook>;

export const SetHook = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 2_048 }),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 1_500 })),
  onFailure: Type.Optional(HookFailure),
});
export type SetHook = Static<typeof SetHook>;

/** What webhooks tell of a hook: of its address scheme, host and port, since the rest may hold a secret of yours. */
export const HookSummary = Type.Object({
  origin: Type.String(),
  timeoutMs: Type.Integer(),
  onFailure: HookFailure,
});
export type HookSummary = Static<typeof HookSummary>;

export const DeleteMessages = Type.Object({
  /** Only in this one; without it in all. */
  conversation: Type.Optional(Line(1, 128)),
});
export type DeleteMessages = Static<typeof DeleteMessages>;

/** The deletion of all that a user wrote until it was asked for. */
export const ChatDeletion = Type.Object({
  id: Type.String(),
  userId: Type.String(),
  /** Null: in all conversations. */
  conversationId: Nullable(Type.String()),
  status: Type.Enum(['RUNNING', 'DONE']),
  /** Messages so far. */
  deleted: Type.Integer(),
  createdAt: Timestamp,
  finishedAt: Nullable(Timestamp),
});
export type ChatDeletion = Static<typeof ChatDeletion>;
