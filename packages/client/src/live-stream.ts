import { Chat } from './chat/chat.ts';
import type { Conversation } from './chat/conversation-types.ts';
import type { Devices } from './devices/devices.ts';
import { SvcError } from './errors.ts';
import { Room } from './room.ts';

/** What your backend gets from `liveStreams.addHost` or `createViewerToken`; pass it on as it is. */
export interface StreamCredentials {
  role: 'HOST' | 'CO_HOST' | 'VIEWER';
  rtc: { token: string };
  chat: { token: string };
  conversation: { id: string };
}

export interface LiveStreamOptions {
  /** Address of the service. */
  url: string;
  /** Fetches credentials from your backend; asked again when they have expired. */
  credentials: () => Promise<StreamCredentials>;
  /** From `createDevices()`: for its room, as in `RoomOptions`. */
  devices?: Devices;
}

/** A live stream: its room and its conversation. Its events come from those two. */
export class LiveStream {
  readonly room: Room;
  readonly #chat: Chat;
  readonly #mint: () => Promise<StreamCredentials>;
  #current: Promise<StreamCredentials> | null = null;
  /** Who has taken a token out of the current credentials: each is taken once. */
  #takenBy = new Set<'rtc' | 'chat'>();
  #joined: { conversation: Conversation; role: StreamCredentials['role'] } | null = null;

  constructor({ url, credentials, devices }: LiveStreamOptions) {
    this.#mint = credentials;
    this.room = new Room({ url, token: () => this.#take('rtc'), ...(devices && { devices }) });
    this.#chat = new Chat({ url, token: () => this.#take('chat') });
  }

  /** The conversation, once joined. */
  get chat(): Conversation {
    return this.#stay.conversation;
  }

  /** Once joined. */
  get role(): StreamCredentials['role'] {
    return this.#stay.role;
  }

  /** Both or none: when one half cannot be joined, the other is left. */
  async join(): Promise<void> {
    try {
      await Promise.all([this.room.connect(), this.#chat.connect()]);
      const { conversation, role } = await this.#credentials();
      this.#joined = { conversation: await this.#chat.join(conversation.id), role };
    } catch (error) {
      await this.leave();
      throw error;
    }
  }

  async leave(): Promise<void> {
    this.#joined = null;
    this.#current = null;
    this.#takenBy.clear();
    await Promise.all([this.room.leave(), this.#chat.disconnect()]);
  }

  get #stay(): { conversation: Conversation; role: StreamCredentials['role'] } {
    if (this.#joined) return this.#joined;
    throw new SvcError({ code: 'not_joined', message: 'Not joined: await join() first.' });
  }

  #credentials(): Promise<StreamCredentials> {
    this.#current ??= this.#mint();
    return this.#current;
  }

  /** A token that was taken before has expired: then both halves get new ones, each when it asks. */
  async #take(kind: 'rtc' | 'chat'): Promise<string> {
    if (this.#takenBy.has(kind)) {
      this.#current = null;
      this.#takenBy.clear();
    }
    this.#takenBy.add(kind);
    const asked = this.#credentials();
    try {
      return (await asked)[kind].token;
    } catch (error) {
      // A failure is not kept: the next attempt asks again.
      if (this.#current === asked) this.#current = null;
      throw error;
    }
  }
}
