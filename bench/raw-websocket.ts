import { connect, type Socket } from 'node:net';

/** A text frame as a client must send it, with a mask of zeros. */
export function clientFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const head =
    body.length < 126
      ? Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0])
      : Buffer.from([0x81, 0x80 | 126, body.length >> 8, body.length & 255, 0, 0, 0, 0]);
  return Buffer.concat([head, body]);
}

/** A TCP connection that asks to become a WebSocket; what comes back is the caller's to read. */
export function upgrade(port: number, path: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\n` +
      'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  return socket;
}

/** Resolves when `mark` has arrived. */
export function seen(socket: Socket, mark: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.once('error', reject);
    socket.on('data', function look(chunk) {
      text += chunk.toString('latin1');
      if (!text.includes(mark)) return;
      socket.off('data', look);
      socket.off('error', reject);
      resolve();
    });
  });
}
