import type { Socket } from 'node:net';
import { clientFrame, upgrade } from './raw-websocket.ts';

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

function openOne({ port, path, greeting, ready }: Open): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = upgrade(port, path);
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
