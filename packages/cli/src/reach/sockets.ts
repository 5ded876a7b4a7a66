import { signalingPath, signalingSubprotocol } from '@parley/contract';
import { type Finding, fail, ok } from '@parley/server-app/doctor/finding';

const patienceMs = 10_000;
/** What a token that is none is closed with. */
const tokenRefused = 4401;

const doors = [
  { path: signalingPath, subprotocol: signalingSubprotocol },
  { path: '/v1/chat/ws', subprotocol: 'svc.chat.v1' },
];

/** A refusal from inside is the proof: the upgrade passed every proxy, and frames come back. */
export async function checkSockets(url: URL): Promise<Finding> {
  const codes = await Promise.all(doors.map(({ path, subprotocol }) => closeCodeOf(new URL(path, url), subprotocol)));
  const broken = doors.flatMap(({ path }, index) =>
    codes[index] === tokenRefused ? [] : [`${path} (${codes[index]})`],
  );
  if (broken.length === 0) return ok('sockets', 'Both WebSockets open and refuse a wrong token.');
  return fail(
    'sockets',
    `WebSockets do not get through to the service: ${broken.join(', ')}.`,
    'Let every proxy in between pass Upgrade and Connection, here (an office’s web filter) and in front of the service.',
  );
}

/** 1006 when there never was a connection; null when it stays silent. */
function closeCodeOf(url: URL, subprotocol: string): Promise<number | null> {
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url, [subprotocol, 'bearer.parley-doctor']);
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(null);
      socket.close();
    }, patienceMs);
    socket.addEventListener('close', ({ code }) => {
      clearTimeout(timer);
      resolve(code);
    });
    // `close` follows.
    socket.addEventListener('error', () => {});
  });
}
