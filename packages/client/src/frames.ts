import type {
  ChatClientFrames,
  ChatServerFrame,
  ClientFrameTable,
  FrameOf,
  ReplyTo,
  ServerFrameTable,
  SignalingClientFrames,
  SignalingServerFrame,
} from '@parley/contract';

/** The frames of one socket, both ways. Types only: no schema gets into a page's bundle. */
export interface Protocol {
  sends: ClientFrameTable;
  receives: ChatServerFrame | SignalingServerFrame;
}

export interface ChatProtocol extends Protocol {
  sends: ChatClientFrames;
  receives: ChatServerFrame;
}

export interface SignalingProtocol extends Protocol {
  sends: SignalingClientFrames;
  receives: SignalingServerFrame;
}

export type Hello<P extends Protocol> = Extract<P['receives'], { type: 'hello' }>;

/** Everything but what the link handles itself. An `error` is pushed when it answers no request. */
export type Pushed<P extends Protocol> = Exclude<P['receives'], { type: 'hello' | 'ack' | 'response' | 'pong' }>;

/** Sends a frame that the server answers; what the answer carries is said by the frame's row in the contract. */
export type Request<P extends Protocol> = <K extends keyof P['sends'] & string>(
  frame: FrameOf<P['sends'], K>,
) => Promise<ReplyTo<P['sends'][K]>>;

/** Sends a frame without waiting for an answer. False when the link is closed. */
export type Send<P extends Protocol> = <K extends keyof P['sends'] & string>(frame: FrameOf<P['sends'], K>) => boolean;

/** A handler for every type: one that is forgotten does not compile. */
export type FrameHandlers<T extends ServerFrameTable, K extends keyof T> = {
  readonly [N in K]: (frame: FrameOf<T, N>) => void;
};

/** Calls the handler of the frame's type. A type that only a newer server knows has none, and is ignored. */
export function dispatch<T extends ServerFrameTable, K extends keyof T>(
  handlers: FrameHandlers<T, K>,
  frame: FrameOf<T, K>,
): void {
  handlers[frame.type]?.(frame);
}

export const isHello = <P extends Protocol>(frame: P['receives']): frame is Hello<P> => frame.type === 'hello';

export const isPushed = <P extends Protocol>(frame: P['receives']): frame is Pushed<P> =>
  frame.type !== 'hello' && frame.type !== 'ack' && frame.type !== 'response' && frame.type !== 'pong';
