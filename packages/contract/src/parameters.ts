import type { AllRoutes, RouteName } from './all-routes.ts';
import type { ParamNames } from './route.ts';

type PathName = ParamNames<AllRoutes[RouteName]['at']>;
type QueryName = {
  [R in RouteName]: AllRoutes[R] extends { query: { properties: infer P } } ? keyof P : never;
}[RouteName];

/** A part of a path. */
export interface PathParameterRow {
  is: string;
  /** What OpenAPI calls it. Rows keep their own word, by which the SDK's calls give it; on the wire it has none. */
  as?: string;
}

/** Every `{name}` of a path. A name without a row does not compile. */
export const pathParameters: Readonly<Record<PathName, PathParameterRow>> = {
  alertId: { is: 'Id of the alert.' },
  attachmentId: { is: 'Id of the attachment.' },
  blockedId: { is: 'The user who is blocked, or no longer, by the id that your application gave them.' },
  callId: { is: 'Id of the call: of the session of its room.' },
  connectionId: { is: 'Id of the connection, as the client chose it.' },
  conversationId: { is: 'Id of the conversation (`conv_…`), its uuid, the id of its room, or its name.' },
  deletionId: { is: 'Id of the deletion of messages (`cdl_…`).' },
  deliveryId: { is: 'Id of the delivery.' },
  deviceId: { is: 'Id of the device (`dev_…`).' },
  emoji: { is: 'The reaction, percent-encoded.' },
  errorId: { is: 'Id of the classified error.' },
  id: { is: 'Id of the room (`room_…`) or its name.', as: 'roomId' },
  identity: { is: 'The participant, as the token that they joined with names them.' },
  jobId: { is: 'Id of the export, erasure or import (`job_…`).' },
  messageId: { is: 'Id of the message (`msg_…`).' },
  name: { is: 'Name of the media node.', as: 'serverName' },
  passkeyId: { is: 'Id of the passkey.' },
  projectId: { is: 'Id of the project.' },
  provider: { is: 'The identity provider: `google`, `github` or `oidc`, where it is set up.' },
  publicId: { is: 'Public id of the API key: what stands before the dot.', as: 'apiKeyId' },
  reportId: { is: 'Id of the report (`rep_…`).' },
  requestId: { is: 'The request id: header `x-request-id` of the answer, `requestId` of an error.' },
  room: { is: 'Id of the conversation (`conv_…`), its uuid, the id of its room, or its name.', as: 'conversationId' },
  roomId: { is: 'Id of the room (`room_…`) or its name.' },
  scheduledId: { is: 'Id of the scheduled message (`sch_…`).' },
  sessionId: { is: 'Id of the session: of a sign-in, or the last part of the `location` that WHIP or WHEP gave.' },
  signingKeyId: { is: 'Id of the signing key.' },
  streamId: { is: 'Id of the live stream.' },
  tokenId: { is: 'Id of the token: `tokenId` where it was minted.' },
  trackId: { is: 'Id of the track.' },
  userId: { is: 'The user: of a project the id of their account, elsewhere the id that your application gave them.' },
  webhookId: { is: 'Id of the webhook endpoint.' },
};

/** Every field of a query. A name without a row does not compile. */
export const queryParameters: Readonly<Record<QueryName, string>> = {
  action: 'Only entries of this action.',
  actorId: 'Only entries of this account.',
  after: 'Walks toward newer: `latestCursor` of an earlier page, or `nextCursor` of the page before.',
  archived: 'True: those that are archived, instead of those that are not.',
  banned: 'True: only those who are banned now.',
  before: 'Walks back: `nextCursor` of the page before, or the id of its last entry where there is none.',
  category: 'Only errors of this category.',
  code: 'Only requests that failed with this code.',
  connectionId: 'Only errors of this connection.',
  conversation: 'Only messages of this conversation: by id, uuid, the id of its room, or name.',
  cursor: 'Where the page starts: `x-next-cursor` of the page before.',
  days: 'How many days back, today included.',
  environment:
    '`DEVELOPMENT`, which it is unless named, or `PRODUCTION`. Webhook endpoints and keys are listed of both unless one is named.',
  eventId: 'Only deliveries of this event.',
  eventType: 'Only deliveries of events of this type.',
  from: 'Only entries of this time or later.',
  hidden: 'True: those that the user has hidden, instead of those that they have not.',
  hasAttachment: 'True: only messages with a file; false: only those without.',
  ids: 'Only these, separated by commas.',
  includeDeleted: 'Shows the tombstones of deleted messages too.',
  keyId: 'Only requests of this API key, by its public id.',
  kind: 'Only jobs of this kind.',
  limit: 'How many entries a page has at most.',
  optionId: 'Only votes for this option.',
  maxScore: 'Only calls in which somebody had this score or a lower one.',
  method: 'Only requests with this method.',
  name: 'Only rooms or conversations with this in their name, in whatever case.',
  outcome: 'Only requests with this outcome.',
  pinned: 'True: only those that the user has pinned.',
  q: 'The words to find; the last may be the beginning of a word.',
  requestId: 'Only requests with this request id.',
  resourceId: 'Only entries about this resource.',
  revokeTokens:
    'Whether tokens end too: those of a participant do unless this is false, those of a key or member only when it is true.',
  roomId: 'Only connections or calls of this room.',
  route: 'Only requests whose route contains this.',
  senderId: 'Only messages of this user.',
  serverName: 'Only rooms on this media node.',
  size: 'Of a picture: pixels of the longer side. The smallest stored size that is at least as large; without it the file itself.',
  since: 'Where the page starts: `nextCursor` of the page before; without it at the first change.',
  sort: '`newest` first, which it is unless named, or `worst` first; a search gives the `best` first unless it names `newest`.',
  state: 'Only connections in this state.',
  status: 'Only deliveries, streams or reports with this status.',
  threadRootId: 'Only the thread of this message.',
  title: 'Only streams with this in their title, in whatever case.',
  to: 'Only entries before this time.',
  type: 'Only conversations of this type.',
  types: 'Only events of these types, separated by commas.',
  unread: 'True: only those with unread messages.',
  userId: 'The user that it is about, or for whom an API key acts.',
};

export const idempotencyKeyHeader =
  'A text of your own choice. A repeat with the same key and input gets the first answer instead of a second effect.';
