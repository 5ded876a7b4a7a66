import type { Clock } from '../core/clock.ts';
import { frameText, ReplyJson, ReplyThen } from '../core/socket.ts';
import type { Outbox } from './outbox.ts';

export interface FrameWriter {
  send(type: string, fields: object): void;
  /** Answers a frame that had an id; `answer` is what its handler gave back. */
  reply(ref: string | null, answer: unknown): void;
}

/** Turns what is said to one connection into frames in its outbox; each gets its `ts`. */
export class OutboxWriter implements FrameWriter {
  readonly #outbox: Outbox;
  readonly #clock: Clock;
  readonly #replyType: 'ack' | 'response';

  constructor(outbox: Outbox, clock: Clock, replyType: 'ack' | 'response') {
    this.#outbox = outbox;
    this.#clock = clock;
    this.#replyType = replyType;
  }

  send(type: string, fields: object): void {
    this.#outbox.write(frameText(JSON.stringify({ type, ...fields, ts: this.#clock.now() })));
  }

  reply(ref: string | null, answer: unknown): void {
    if (ref !== null) this.#sendReply(ref, answer instanceof ReplyThen ? answer.data : answer);
    if (answer instanceof ReplyThen) answer.afterwards();
  }

  #sendReply(ref: string, data: unknown): void {
    if (data instanceof ReplyJson) {
      const head = `{"type":"${this.#replyType}","ref":${JSON.stringify(ref)}`;
      this.#outbox.write(frameText(`${head},"data":${data.text},"ts":${this.#clock.now()}}`));
    } else this.send(this.#replyType, data === undefined ? { ref } : { ref, data });
  }
}
