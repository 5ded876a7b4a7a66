import { connect, createServer, type Socket } from 'node:net';

/** A network that fails on command, in front of a real server. */
export interface TcpProxy {
  url: string;
  connections(): number;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  /** Keeps connections open but passes nothing on. */
  freeze(): void;
  /** Open connections pass nothing from now on; new ones do. */
  freezeOpenOnes(): void;
  /**
   * Marked connections stay open, and what the server says to them is swallowed: dead without a sign. Later ones are
   * whole. Gives how many there were.
   */
  deafenMarked(): number;
  /** New connections go to another server. */
  retarget(url: string): void;
  /** Lets new and frozen connections through again. */
  restore(): void;
  close(): Promise<void>;
}

/** `mark`: a connection whose client says this is marked. */
export async function startTcpProxy(targetUrl: string, { mark }: { mark?: RegExp } = {}): Promise<TcpProxy> {
  let target = new URL(targetUrl);
  const pairs = new Set<readonly [Socket, Socket]>();
  const marked = new Set<Socket>();
  const deaf = new Set<Socket>();
  let state: 'open' | 'cut' | 'frozen' = 'open';

  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (bytes) => {
        if (from === client && mark?.test(bytes.toString('latin1'))) marked.add(client);
        if (!deaf.has(to)) to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        pairs.delete(pair);
        marked.delete(client);
        deaf.delete(client);
        to.destroy();
      });
      if (state === 'frozen') from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (!address || typeof address === 'string') throw new Error('The proxy has no port.');

  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${address.port}`;
  const sockets = () => [...pairs].flat();
  return {
    url: url.href,
    connections: () => pairs.size,
    cut() {
      state = 'cut';
      for (const socket of sockets()) socket.destroy();
    },
    freeze() {
      state = 'frozen';
      for (const socket of sockets()) socket.pause();
    },
    freezeOpenOnes() {
      for (const socket of sockets()) socket.pause();
    },
    deafenMarked() {
      for (const client of marked) deaf.add(client);
      return marked.size;
    },
    retarget(next) {
      target = new URL(next);
    },
    restore() {
      state = 'open';
      for (const socket of sockets()) socket.resume();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets()) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
