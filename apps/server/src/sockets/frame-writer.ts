import type { Clock } from '../core/clock.ts';
import { frameText, ReplyJson, ReplyThen } from '../core/socket.ts';
import type { Outbox } from './outbox.ts';

export interface FrameWriter {
  send(type: string, fields: object): void;
  /** Answers a frame that had an id; `answer` is what its handler gave back. */
  reply(ref: string | null, answer: unknown): void;
}

/** Turns what is said to one connection into frames in its outbox; each gets its `ts`. */
export function createFrameWriter(outbox: Outbox, clock: Clock, replyType: 'ack' | 'response'): FrameWriter {
  const send = (type: string, fields: object): void =>
    outbox.write(frameText(JSON.stringify({ type, ...fields, ts: clock.now() })));

  function sendReply(ref: string, data: unknown): void {
    if (data instanceof ReplyJson) {
      const head = `{"type":"${replyType}","ref":${JSON.stringify(ref)}`;
      outbox.write(frameText(`${head},"data":${data.text},"ts":${clock.now()}}`));
    } else send(replyType, data === undefined ? { ref } : { ref, data });
  }

  return {
    send,
    reply(ref, answer) {
      if (ref !== null) sendReply(ref, answer instanceof ReplyThen ? answer.data : answer);
      if (answer instanceof ReplyThen) answer.afterwards();
    },
  };
}
