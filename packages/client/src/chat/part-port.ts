import type { Connection } from '../connection.ts';
import type { Events } from '../events.ts';
import type { ChatProtocol, Pushed } from '../frames.ts';
import type { Http } from '../http.ts';

/** What parts beside the conversations listen to; each looks at the type. */
export type PartFrame = Extract<
  Pushed<ChatProtocol>,
  { type: `inbox.${string}` | 'draft.updated' | 'block.updated' | `message.${string}` | 'recovered' }
>;
export type PartEvents = { inbox: [frame: PartFrame] };

/** What a part needs of the chat whose connection it shares. A list, since names would be in every chat. */
export type PartPort = readonly [http: Http, connection: Connection<ChatProtocol>, events: Events<PartEvents>];
