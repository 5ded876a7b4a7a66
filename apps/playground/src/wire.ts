import { note } from './log.ts';

/** Sockets of this page, so that the inspector can show their frames and break them. */
const open = new Set<WebSocket>();
let isOffline = false;

const kindOf = (data: unknown): string => {
  if (typeof data !== 'string') return 'binary';
  try {
    return String((JSON.parse(data) as { type?: string }).type ?? 'frame');
  } catch {
    return 'text';
  }
};

class WatchedSocket extends WebSocket {
  readonly #name: string;

  constructor(url: string | URL, protocols?: string | string[]) {
    super(isOffline ? 'ws://127.0.0.1:9' : url, protocols);
    this.#name = String(url).includes('/chat/') ? 'chat' : 'signaling';
    open.add(this);
    this.addEventListener('message', ({ data }) =>
      note(`${this.#name} in`, kindOf(data), `${String(data).length} bytes`),
    );
    this.addEventListener('close', ({ code, reason }) => {
      open.delete(this);
      note(this.#name, `closed ${code}`, reason);
    });
  }

  override send(data: string | Blob | BufferSource): void {
    note(`${this.#name} out`, kindOf(data), `${String(data).length} bytes`);
    super.send(data);
  }
}
globalThis.WebSocket = WatchedSocket;

/** As if the network had cut them: both SDKs reconnect. */
export function dropSockets(): void {
  for (const socket of open) socket.close(4000, 'dropped by the inspector');
}

/** No socket opens for this long. */
export function goOffline(ms: number): void {
  isOffline = true;
  dropSockets();
  setTimeout(() => {
    isOffline = false;
    note('page', 'online again');
  }, ms);
}
