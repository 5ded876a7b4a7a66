import { createSocket, type Socket } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';
import { HEAD_BYTES } from './seal.ts';

/** As much as the system lets us have: a burst of keyframes must not overrun it. */
const BUFFER_BYTES = 4 << 20;

/** False when it is not for this one. */
type Receive = (datagram: Buffer) => boolean;

/** The UDP socket of all pipes of a process. What names no pipe of ours is dropped unanswered. */
export class PipeSocket {
  readonly #socket: Socket;
  /** Numbers of pipes to other nodes are derived, so two may have the same one. */
  readonly #pipes = new Map<number, readonly Receive[]>();
  readonly #isDual: boolean;
  /** Datagrams of strangers, and those that came for a pipe that is closed. */
  dropped = 0;

  private constructor(socket: Socket, isDual: boolean) {
    this.#socket = socket;
    this.#isDual = isDual;
    socket.on('message', (datagram) => {
      const pipes = datagram.length > HEAD_BYTES ? this.#pipes.get(datagram.readUInt32BE(0)) : undefined;
      if (!pipes) this.dropped += 1;
      else pipes.some((receive) => receive(datagram));
    });
  }

  /** `port` 0: any that is free. */
  static async open(host: string, onError: (error: unknown) => void, port = 0): Promise<PipeSocket> {
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
      socket.bind(port, host, () => {
        socket.off('error', reject);
        resolve();
      });
    });
    socket.on('error', onError);
    return new PipeSocket(socket, host === '::');
  }

  get port(): number {
    return this.#socket.address().port;
  }

  attach(pipe: number, receive: Receive): void {
    this.#pipes.set(pipe, [...(this.#pipes.get(pipe) ?? []), receive]);
  }

  detach(pipe: number, receive: Receive): void {
    const left = this.#pipes.get(pipe)?.filter((one) => one !== receive) ?? [];
    if (left.length > 0) this.#pipes.set(pipe, left);
    else this.#pipes.delete(pipe);
  }

  /** What cannot be sent is lost, as on any network. */
  send(parts: readonly Buffer[], port: number, host: string): void {
    this.#socket.send(parts, port, this.#isDual && isIPv4(host) ? `::ffff:${host}` : host);
  }

  close(): void {
    this.#pipes.clear();
    this.#socket.close();
  }
}
