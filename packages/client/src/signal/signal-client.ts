import type { FrameData, SignalingClientFrames } from '@parley/contract';
import { type Connection, createConnection } from '../connection.ts';
import type { CredentialSource } from '../credential.ts';
import { asSvcError, type ConnectionError } from '../errors.ts';
import type { Pushed, SignalingProtocol } from '../frames.ts';
import { type Link, RefusedLink } from '../link.ts';
import type { ConnectionState, ReconnectOptions } from '../reconnect.ts';
import { type Runtime, sleep } from '../runtime.ts';
import { describeClient } from './client-info.ts';
import type { JoinedFrame, ParticipantRecord, RosterEntry } from './records.ts';
import { ROOM_MESSAGES } from './room-messages.ts';

/** Handled here: everything else is the call's. */
type ConnectionFrameType = 'joined' | 'joined.more' | 'roster' | 'changes' | 'token.refresh' | 'reconnect';
export type CallFrame = Exclude<Pushed<SignalingProtocol>, { type: ConnectionFrameType }>;

export interface SignalDeps {
  baseUrl: string;
  credential: CredentialSource;
  reconnect: Required<ReconnectOptions> | false;
  runtime: Runtime;
  connectionId: string;
  /** What the application wants of the room. */
  wishes: {
    autoSubscribe: boolean;
    adaptiveStream: boolean;
    maxVisible: number | undefined;
    region: string | undefined;
  };
  /** In the room; `participants` are the others, none when the session was resumed. */
  onJoined(joined: JoinedFrame, participants: readonly ParticipantRecord[]): void;
  onFrame(frame: CallFrame): void;
  onTokenExpiring(inSeconds: number): void;
  onState(state: ConnectionState, previous: ConnectionState, error?: ConnectionError): void;
}

export interface Signal extends Connection<SignalingProtocol> {
  /** Joins again instead of resuming the session: for media that cannot be repaired. */
  rejoin(): void;
}

/** A room event that came with others. */
type Change = Pushed<SignalingProtocol> & { seq: number; participant?: unknown };

type JoinFrame = { type: 'join' } & FrameData<SignalingClientFrames['join']>;

interface Resume {
  sessionId: string;
  resumeToken: string;
  lastSeq: number;
}

/** The signaling connection: joins, and after a loss resumes the session. */
export function createSignal(deps: SignalDeps): Signal {
  const { runtime, credential, connectionId, wishes } = deps;
  let resume: Resume | undefined;
  let joined: JoinedFrame;
  let present: ParticipantRecord[];
  /** In frames of a large room a field that is left out is as of the participant before. */
  let last: ParticipantRecord | undefined;

  function fill(entry: RosterEntry): ParticipantRecord {
    last = { ...last, ...entry } as ParticipantRecord;
    return last;
  }

  /** What is undefined is not sent. */
  const join = (): JoinFrame =>
    ({ type: 'join', connectionId, ...wishes, roster: true, client: describeClient(), resume }) as JoinFrame;

  async function welcome(link: Link<SignalingProtocol>): Promise<void> {
    try {
      await (link.first ?? link.request(join()));
    } catch (error) {
      // The close code that follows says more than the error: whether to reconnect.
      const patience = new AbortController();
      const close = await Promise.race([link.closed, sleep(runtime, 1_000, patience.signal)]);
      patience.abort();
      throw close ? new RefusedLink(close, asSvcError(error)) : error;
    }
  }

  function handle(frame: Pushed<SignalingProtocol>): void {
    if (resume && 'seq' in frame && frame.seq > resume.lastSeq) resume.lastSeq = frame.seq;
    switch (frame.type) {
      case 'joined':
        joined = frame;
        present = [];
        arrive(frame);
        break;
      case 'joined.more':
      case 'roster':
        arrive(frame);
        break;
      case 'changes':
        frame.events.forEach((event, at) => {
          const change = { ...event, seq: frame.from + at } as Change;
          if (change.participant) change.participant = fill(change.participant as RosterEntry);
          // Some may have come with the join.
          if (resume && change.seq > resume.lastSeq) handle(change);
        });
        break;
      case 'token.refresh':
        void renewToken(frame.token);
        break;
      case 'reconnect':
        leaveSoon(frame);
        break;
      default:
        deps.onFrame(frame);
    }
  }

  /** The server sends a fresh token while we are connected; the old one is valid for a moment more. */
  async function renewToken(token: string): Promise<void> {
    const before = await credential.get().catch(() => token);
    credential.replace(token);
    deps.onTokenExpiring(Math.max(0, Math.round(expiryOf(before) - Date.now() / 1000)));
  }

  function arrive({ participants, more }: { participants: readonly RosterEntry[]; more: boolean }): void {
    present.push(...participants.map(fill));
    if (more) return;
    const { sessionId, resumeToken, seq } = joined;
    resume = { sessionId, resumeToken, lastSeq: seq };
    deps.onJoined(joined, present);
  }

  /** The close code that follows decides how to reconnect; here only whether the session can be resumed. */
  function leaveSoon({ action, afterMs }: Extract<Pushed<SignalingProtocol>, { type: 'reconnect' }>): void {
    if (action === 'RESUME') connection.cycle(afterMs);
    else resume = undefined;
  }

  const connection = createConnection<SignalingProtocol>({
    ...deps,
    path: '/v1/rtc/signal',
    subprotocol: 'svc.rtc.v1',
    messages: ROOM_MESSAGES,
    // To resume takes a secret, which no address may hold.
    first: () => (resume ? undefined : join()),
    welcome,
    onFrame: handle,
    onState(state, previous, error) {
      if (state === 'disconnected') resume = undefined;
      deps.onState(state, previous, error);
    },
  });

  return Object.assign(connection, {
    rejoin() {
      resume = undefined;
      connection.cycle(0);
    },
  });
}

/** Our tokens are ordinary JWTs; what is in them is the server's to check. */
function expiryOf(token: string): number {
  const payload = token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
  return (JSON.parse(atob(payload)) as { exp: number }).exp;
}
