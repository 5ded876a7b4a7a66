import { type Connection, createConnection } from '../connection.ts';
import type { CredentialSource } from '../credential.ts';
import { asSvcError, ConnectionError } from '../errors.ts';
import { type Frame, type Link, RefusedLink } from '../link.ts';
import type { ConnectionState, ReconnectOptions } from '../reconnect.ts';
import { type Runtime, sleep } from '../runtime.ts';
import { describeClient } from './client-info.ts';
import type { JoinedFrame, ParticipantRecord } from './records.ts';
import { ROOM_MESSAGES } from './room-messages.ts';

export interface SignalDeps {
  baseUrl: string;
  credential: CredentialSource;
  reconnect: Required<ReconnectOptions> | false;
  runtime: Runtime;
  connectionId: string;
  autoSubscribe: boolean;
  adaptiveStream: boolean;
  /** In the room; `participants` is everybody else, empty when the session was resumed. */
  onJoined(joined: JoinedFrame, participants: readonly ParticipantRecord[]): void;
  onFrame(frame: Frame): void;
  onTokenExpiring(inSeconds: number): void;
  onState(state: ConnectionState, previous: ConnectionState, error?: ConnectionError): void;
}

export interface Signal extends Connection {
  request(type: string, fields: object): Promise<unknown>;
  /** Without an answer. */
  send(type: string, fields: object): void;
  /** Joins anew instead of taking the session up again: for media that cannot be repaired. */
  rejoin(): void;
}

interface Resume {
  sessionId: string;
  resumeToken: string;
  lastSeq: number;
}

/** The signaling connection: joins, and after a loss takes up the session where it stopped. */
export function createSignal(deps: SignalDeps): Signal {
  const { runtime, credential, connectionId, autoSubscribe, adaptiveStream } = deps;
  let resume: Resume | null = null;
  let arriving: { joined: JoinedFrame; participants: ParticipantRecord[] } | null = null;

  async function welcome(link: Link): Promise<void> {
    const wish = resume ? { resume } : {};
    const client = describeClient();
    try {
      await link.request('join', { connectionId, autoSubscribe, adaptiveStream, client, ...wish });
    } catch (error) {
      // The close code that follows says more than the error: whether to come back.
      const patience = new AbortController();
      const close = await Promise.race([link.closed, sleep(runtime, 1_000, patience.signal)]);
      patience.abort();
      throw close ? new RefusedLink(close, asSvcError(error)) : error;
    }
  }

  function handle(frame: Frame): void {
    if (resume && typeof frame['seq'] === 'number') resume.lastSeq = Math.max(resume.lastSeq, frame['seq']);
    // The frames of the contract's table.
    if (frame.type === 'joined') arrive(frame as unknown as JoinedFrame, []);
    else if (frame.type === 'joined.more' && arriving) {
      arrive({ ...arriving.joined, ...(frame as unknown as Partial<JoinedFrame>) }, arriving.participants);
    } else if (frame.type === 'token.refresh') void renewToken(String(frame['token']));
    else if (frame.type === 'reconnect') leaveSoon(String(frame['action']), Number(frame['afterMs']));
    else deps.onFrame(frame);
  }

  /** The server itself gives a fresh token while we are connected; the old one is good for a moment more. */
  async function renewToken(token: string): Promise<void> {
    const before = await credential.get().catch(() => token);
    credential.replace(token);
    deps.onTokenExpiring(Math.max(0, Math.round(expiryOf(before) - Date.now() / 1000)));
  }

  function arrive(joined: JoinedFrame, before: ParticipantRecord[]): void {
    const participants = [...before, ...joined.participants];
    arriving = joined.more ? { joined, participants } : null;
    if (joined.more) return;
    const { sessionId, resumeToken, seq } = joined;
    resume = { sessionId, resumeToken, lastSeq: seq };
    deps.onJoined(joined, participants);
  }

  /** The close that follows says how to go on; here only whether the session is worth keeping. */
  function leaveSoon(action: string, afterMs: number): void {
    if (action === 'RESUME') connection.cycle(afterMs);
    else resume = null;
  }

  const connection = createConnection({
    ...deps,
    path: '/v1/rtc/signal',
    subprotocol: 'svc.rtc.v1',
    messages: ROOM_MESSAGES,
    welcome,
    onFrame: handle,
    onState(state, previous, error) {
      if (state === 'disconnected') resume = null;
      deps.onState(state, previous, error);
    },
  });

  return Object.assign(connection, {
    async request(type: string, fields: object): Promise<unknown> {
      const { link } = connection;
      if (!link) throw new ConnectionError('network');
      return link.request(type, fields);
    },
    send: (type: string, fields: object) => void connection.link?.send(type, fields),
    rejoin() {
      resume = null;
      connection.cycle(0);
    },
  });
}

/** Our tokens are ordinary JWTs; what is in them is the server's to check. */
function expiryOf(token: string): number {
  const payload = token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
  return (JSON.parse(atob(payload)) as { exp: number }).exp;
}
