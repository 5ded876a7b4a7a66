import { Type } from 'typebox';
import { clientFrames, serverFrames } from '../frame.ts';
import { Line, Nullable, Timestamp } from '../schema.ts';
import { InboxEntry, MarkDelivered } from './inbox-schemas.ts';

const ts = Type.Integer();
const conversationId = Type.String();

export const inboxClientFrames = clientFrames({
  'inbox.subscribe': {
    data: Type.Object({
      /** `ts` of the last frame that the client got before its connection was lost. */
      since: Type.Optional(Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 })),
    }),
    budget: 'CHAT_SUBSCRIBE_RATE_LIMIT',
    replies: Type.Object({
      /** What changed since then follows in `inbox.changed` and `inbox.removed`; false: read the inbox anew. */
      recovered: Type.Boolean(),
      /** Time of the server: what `since` is when nothing came after it. */
      at: Type.Integer(),
    }),
    does: 'Follows all conversations of the user as the inbox shows them, whatever is subscribed to beside it.',
  },
  'inbox.unsubscribe': {
    data: Type.Object({}),
    budget: 'CHAT_UNSUBSCRIBE_RATE_LIMIT',
    does: 'Ends it.',
  },
  delivered: {
    data: Type.Object({
      conversations: Type.Array(Type.Object({ ref: Line(1, 128), seq: MarkDelivered.properties.seq }), {
        minItems: 1,
        maxItems: 100,
      }),
    }),
    budget: 'CHAT_READ_RATE_LIMIT',
    does: 'Says that messages up to these have reached this device. A mark never moves back.',
  },
});

export const inboxServerFrames = serverFrames({
  delivered: {
    when: 'Messages have reached devices of these members; in conversations with at most 100 members.',
    data: Type.Object({
      ts,
      conversationId,
      receipts: Type.Array(Type.Object({ userId: Type.String(), seq: Type.Integer() })),
      at: Timestamp,
    }),
  },
  'inbox.changed': {
    when: 'An entry of the inbox is new or another; it comes whole. Several changes may be one frame.',
    data: Type.Object({ ts, conversationId, entry: InboxEntry }),
  },
  'inbox.removed': {
    when: 'The user is no longer in this conversation, or it was erased.',
    data: Type.Object({ ts, conversationId }),
  },
  'inbox.typing': {
    when: 'Somebody types in a conversation of the inbox with at most 100 members, or stopped.',
    data: Type.Object({
      ts,
      conversationId,
      userId: Type.String(),
      typing: Type.Boolean(),
      expiresAt: Nullable(Timestamp),
    }),
  },
});
