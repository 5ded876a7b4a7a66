import { randomUUID } from 'node:crypto';
import type { Joined, RtcTokenPermissionsDto } from '@parley/contract';
import { eventually } from '../kit/eventually.ts';
import { missing, openSocket, type ServerFrame, type SocketClient, type SocketClientOptions } from './socket-client.ts';

/** In a crowd that joins one room at once each waits for those before. */
const joinMs = 45_000;

/** A participant that plays the signaling protocol; media is not its business. */
export interface SignalClient extends SocketClient {
  readonly connectionId: string;
  joined: Joined;
  /** All participants of `joined` and `joined.more`, or of `roster` as far as it says. */
  others: Joined['participants'];
  /** Client messages sent so far that count against the budget. */
  counted(): number;
  /** The largest frame the server sent, in bytes. */
  largest(): number;
  /** Answers every `sub.offer`, present and to come, as a browser would. */
  answerOffers(): void;
  /** Track ids offered so far. */
  offered(): Set<string>;
  /** Publishes tracks and gives their ids. */
  publish(...kinds: ('AUDIO' | 'VIDEO')[]): Promise<string[]>;
  highestSeq(): number;
}

export interface SignalOptions extends SocketClientOptions {
  /** How the token travels; the subprotocol by default. */
  by?: 'subprotocol' | 'query' | 'join';
  /** The frame that the upgrade request carries. */
  first?: object | string;
  resume?: { sessionId: string; resumeToken: string; lastSeq: number };
  join?: Record<string, unknown>;
  connectionId?: string;
}

export const everyPermission: RtcTokenPermissionsDto = {
  publish: true,
  publishData: true,
  updateMetadata: true,
};

let addresses = 0;
/** Another address each time: the limit of connections is by address, and the service believes its proxy. */
export const nextAddress = (): string => `10.77.${(addresses >> 8) & 255}.${addresses++ & 255}`;

/** Opens the socket without joining. */
export async function openSignal(url: string, token: string, options: SignalOptions = {}): Promise<SocketClient> {
  const { by = 'subprotocol', first, resume: _resume, join: _join, connectionId: _connectionId, ...rest } = options;
  const query = new URLSearchParams({
    ...(by === 'query' && { token }),
    ...(first !== undefined && { first: typeof first === 'string' ? first : JSON.stringify(first) }),
  });
  const path = `${url}/v1/rtc/signal${query.size > 0 ? `?${query}` : ''}`;
  const protocols = by === 'subprotocol' ? ['svc.rtc.v1', `bearer.${token}`] : ['svc.rtc.v1'];
  const headers = { 'x-forwarded-for': nextAddress(), ...rest.headers };
  return openSocket(path, { ...rest, protocols, headers });
}

/** Joins; fails with the frame that refused it. */
export async function joinRoom(url: string, token: string, options: SignalOptions = {}): Promise<SignalClient> {
  const socket = await openSignal(url, token, options);
  const connectionId = options.connectionId ?? randomUUID();
  let counted = 0;
  let largest = 0;
  let isAnswering = false;
  const offered = new Set<string>();
  const send = socket.send;
  socket.ws.on('message', (data) => {
    largest = Math.max(largest, Buffer.byteLength(String(data)));
    const frame = JSON.parse(String(data)) as ServerFrame;
    if (frame.type === 'sub.offer') note(frame);
  });

  function note(frame: ServerFrame): void {
    const { media } = frame['description'] as { media: { trackId?: string; direction: string }[] };
    for (const { trackId, direction } of media) {
      if (trackId && direction === 'inactive') offered.delete(trackId);
      else if (trackId) offered.add(trackId);
    }
    if (isAnswering) answer(frame);
  }

  function answer(frame: ServerFrame): void {
    client.send({ type: 'sub.answer', revision: frame['revision'], description: { media: [] } });
  }

  const client: SignalClient = Object.assign(Object.create(socket, Object.getOwnPropertyDescriptors(socket)), {
    connectionId,
    others: [],
    counted: () => counted,
    largest: () => largest,
    offered: () => offered,
    highestSeq: () => Math.max(client.joined.seq, ...socket.frames.map((frame) => Number(frame['seq'] ?? 0))),
    send(frame: object | string) {
      if (typeof frame !== 'object' || (frame as { type?: string }).type !== 'ping') counted += 1;
      send(frame);
    },
    async ask(frame: { type: string; [field: string]: unknown }) {
      counted += 1;
      return socket.ask(frame);
    },
    answerOffers() {
      isAnswering = true;
      const last = socket.frames.findLast(({ type }) => type === 'sub.offer');
      if (last) answer(last);
    },
    async publish(...kinds: ('AUDIO' | 'VIDEO')[]) {
      const tracks = kinds.map((kind, index) => ({
        cid: `cid-${index}`,
        kind,
        source: kind === 'AUDIO' ? 'MICROPHONE' : 'CAMERA',
      }));
      const response = await client.ask({ type: 'publish', tracks, description: { media: [] } });
      if (response.type !== 'response') throw new Error(`publish refused: ${JSON.stringify(response)}`);
      return (response['data'] as { tracks: { trackId: string }[] }).tracks.map(({ trackId }) => trackId);
    },
  });

  client.send({
    type: 'join',
    connectionId,
    ...(options.by === 'join' ? { token } : {}),
    ...(options.resume ? { resume: options.resume } : {}),
    ...options.join,
    id: 'join',
  });
  // One wait for both ends: the loser of two would go on asking, and keep the process alive until it gives up.
  const response = await eventually(
    () => {
      const answer = socket.frames.find(({ ref }) => ref === 'join');
      const refusal = socket.closed && (socket.frames.find(({ type }) => type === 'error') ?? { type: 'closed' });
      return answer ?? refusal ?? missing('no answer to join', socket);
    },
    { withinMs: joinMs },
  );
  if (response.type !== 'response') throw new JoinRefused(response, socket);
  client.joined = (await client.take('joined')) as unknown as Joined;
  client.others = [...client.joined.participants];
  let { more } = client.joined;
  const page = options.join?.['roster'] && client.others.length === 0 ? 'roster' : 'joined.more';
  while (more) {
    const next = (await client.take(page)) as unknown as Pick<Joined, 'participants' | 'more'>;
    client.others.push(...next.participants);
    more = next.more;
  }
  return client;
}

export class JoinRefused extends Error {
  readonly frame: ServerFrame;
  readonly socket: SocketClient;

  constructor(frame: ServerFrame, socket: SocketClient) {
    super(`join refused: ${JSON.stringify(frame)}`);
    this.frame = frame;
    this.socket = socket;
  }
}
