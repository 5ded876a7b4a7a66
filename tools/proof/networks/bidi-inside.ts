/** In the network of a Firefox: carries messages between stdio, a line each, and its WebDriver BiDi on loopback. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const [url = ''] = process.argv.slice(2);
const socket = new WebSocket(url);
socket.addEventListener('message', ({ data }) => process.stdout.write(`${data}\n`));
socket.addEventListener('close', () => process.exit());
await once(socket, 'open');
for await (const line of createInterface({ input: process.stdin })) socket.send(line);
socket.close();
