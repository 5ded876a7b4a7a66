import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { HEAD_BYTES } from './seal.ts';

/** As much as the system lets us have: a burst of keyframes must not overrun it. */
const BUFFER_BYTES = 4 << 20;

type Receive = (datagram: Buffer) => void;

/** The UDP socket of all pipes of a process. What names no pipe of ours is dropped unanswered. */
export class PipeSocket {
  readonly #socket: Socket;
  readonly #pipes = new Map<number, Receive>();
  /** Datagrams of strangers, and those that came for a pipe that is closed. */
  dropped = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (datagram) => {
      const receive = datagram.length > HEAD_BYTES ? this.#pipes.get(datagram.readUInt32BE(0)) : undefined;
      if (receive) receive(datagram);
      else this.dropped += 1;
    });
  }

  static async open(host: string, onError: (error: unknown) => void): Promise<PipeSocket> {
    const family = isIPv6(host) ? 6 : 4;
    const socket = createSocket({
      type: `udp${family}`,
      // Only addresses are sent to, and the system's resolver would cost more than the datagram.
      lookup: (address, _options, found) => found(null, address, family),
      recvBufferSize: BUFFER_BYTES,
      sendBufferSize: BUFFER_BYTES,
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind(0, host, () => {
        socket.off('error', reject);
        resolve();
      });
    });
    socket.on('error', onError);
    return new PipeSocket(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  attach(pipe: number, receive: Receive): void {
    this.#pipes.set(pipe, receive);
  }

  detach(pipe: number): void {
    this.#pipes.delete(pipe);
  }

  /** What cannot be sent is lost, as on any network. */
  send(parts: readonly Buffer[], port: number, host: string): void {
    this.#socket.send(parts, port, host);
  }

  close(): void {
    this.#pipes.clear();
    this.#socket.close();
  }
}
