import { ConnectionError, type DisconnectReason } from './errors.ts';
import type { Protocol, Request, Send } from './frames.ts';
import type { Link } from './link.ts';
import type { ConnectionState } from './reconnect.ts';
import { type ConnectOptions, createSession, type Session, type SessionDeps } from './session.ts';

export interface ConnectionDeps<P extends Protocol> extends SessionDeps<P> {
  onState(state: ConnectionState, previous: ConnectionState, error?: ConnectionError): void;
}

export interface Connection<P extends Protocol> {
  readonly state: ConnectionState;
  /** The open link, or null. */
  readonly link: Link<P> | null;
  /** Rejects without a link. */
  readonly request: Request<P>;
  /** False without a link. */
  readonly send: Send<P>;
  /** One promise for all callers; after it resolves or rejects nothing of it is left pending. */
  connect(options?: ConnectOptions): Promise<void>;
  /** Resolves once connected; rejects when that will not happen. */
  whenConnected(): Promise<void>;
  /** Closes the link and makes a new one, as when the server asks for it. */
  cycle(afterMs: number): void;
  disconnect(): void;
  /** Ends for good, with a reason that did not come from a close code. */
  stop(reason: DisconnectReason): void;
}

/** A connection that can be made again after it ended: one session after another. */
export function createConnection<P extends Protocol>(deps: ConnectionDeps<P>): Connection<P> {
  let state: ConnectionState = 'idle';
  let session: Session<P> | null = null;

  function enter(next: ConnectionState, error?: ConnectionError): void {
    const previous = state;
    state = next;
    deps.onState(next, previous, error);
  }

  async function start(options: ConnectOptions): Promise<void> {
    const started = createSession(deps, {
      onState: enter,
      onEnd(error) {
        session = null;
        enter('disconnected', error.reason === 'client' ? undefined : error);
      },
    });
    session = started;
    started.start(options);
    await started.ready;
  }

  return {
    get state() {
      return state;
    },
    get link() {
      return session?.link ?? null;
    },
    request: (async (frame) => {
      if (!session?.link) throw new ConnectionError('network');
      return session.link.request(frame);
    }) as Request<P>,
    send: (frame) => session?.link?.send(frame) ?? false,
    connect: async (options = {}) => session?.ready ?? start(options),
    async whenConnected() {
      if (!session) throw new ConnectionError('client', NOT_CONNECTED);
      await session.ready;
    },
    cycle: (afterMs) => session?.cycle(afterMs),
    disconnect: () => session?.end(new ConnectionError('client')),
    stop: (reason) => session?.end(new ConnectionError(reason, { baseUrl: deps.baseUrl })),
  };
}

export const NOT_CONNECTED = { code: 'not_connected', message: 'Not connected: call connect() first.' };
