import type { PipeSocket } from '../src/pipes/pipe-socket.ts';

/** Sockets of pipes whose datagrams arrive in the next turn, whatever address they are sent to. */
export function memoryNetwork() {
  const receivers = new Map<number, (datagram: Buffer) => void>();
  return {
    /** What is sent while its path is not up is lost. */
    socket: (path: { isUp: boolean }): PipeSocket =>
      ({
        attach: (pipe: number, receive: (datagram: Buffer) => void) => void receivers.set(pipe, receive),
        detach: (pipe: number) => void receivers.delete(pipe),
        send(parts: readonly Buffer[]) {
          const datagram = Buffer.concat(parts);
          if (path.isUp) setImmediate(() => receivers.get(datagram.readUInt32BE(0))?.(datagram));
        },
        close() {},
        // What pipes use of a socket.
      }) as unknown as PipeSocket,
  };
}
