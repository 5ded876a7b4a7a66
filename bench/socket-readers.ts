import { connect, type Socket } from 'node:net';

/** Child process: opens raw sockets, upgrades them and counts bytes. Counting must cost less than what is measured. */
interface Open {
  port: number;
  path: string;
  count: number;
  /** Socket.IO wants its own CONNECT packet after the upgrade. */
  greeting?: string;
  /** Bytes each socket gets before the run: hello frames and the like. */
  ready: string;
}

const headersEnd = '\r\n\r\n';
let sockets: Socket[] = [];
let received = 0;
let expected = Number.POSITIVE_INFINITY;

const report = (message: object): void => void process.send?.(message);

/** A masked text frame with a zero mask, as a client must send it. */
function clientFrame(text: string): Buffer {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), body]);
}

function openOne({ port, path, greeting, ready }: Open): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\n` +
          `sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==${headersEnd}`,
      );
    });
    let text = '';
    let isGreeted = greeting === undefined;
    socket.on('error', reject);
    socket.on('data', function settle(chunk) {
      text += chunk.toString('latin1');
      if (!text.includes(headersEnd)) return;
      if (!isGreeted && greeting) {
        isGreeted = true;
        socket.write(clientFrame(greeting));
      }
      if (!text.includes(ready)) return;
      socket.off('data', settle);
      socket.on('data', (bytes) => {
        received += bytes.length;
        if (received === expected) report({ done: true });
      });
      resolve(socket);
    });
  });
}

process.on('message', async (message: { open?: Open; expect?: number; close?: true }) => {
  if (message.open) {
    const { open } = message;
    for (let at = 0; at < open.count; at += 100) {
      const some = Array.from({ length: Math.min(100, open.count - at) }, () => openOne(open));
      sockets.push(...(await Promise.all(some)));
    }
    report({ opened: sockets.length });
  } else if (message.expect !== undefined) {
    received = 0;
    expected = message.expect;
    report({ expecting: true });
  } else if (message.close) {
    for (const socket of sockets) socket.destroy();
    sockets = [];
    report({ closed: true });
  }
});
