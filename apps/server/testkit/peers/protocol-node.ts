import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  type MediaCommandFrame,
  type MediaErrorCode,
  type MediaEventName,
  type MediaEvents,
  mediaEventAudience,
} from '@parley/contract/media-control';
import { proveMediaNode, verifyMediaControl } from '@parley/contract/media-control-auth';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Controller, createNodeRooms, type NodeRoom, Refusal } from './protocol-node-rooms.ts';

/**
 * A media node without media: it speaks the control protocol of docs/media-control.md as the real one does, so that
 * everything around it can be tried a thousand times a second. It stands in for the outside world, not for our code.
 */
export interface ProtocolNode {
  readonly name: string;
  readonly internalUrl: string;
  readonly instanceId: string;
  /** Room → participants, as the node holds them. */
  rooms(): Map<string, string[]>;
  /** The last registration sent to the control plane. */
  register(fields?: Record<string, unknown>): Promise<Response>;
  heartbeat(load?: Record<string, unknown>): Promise<Response>;
  /** Part of every heartbeat from now on, also of those that the kit sends by itself. */
  reports: Record<string, unknown>;
  /** Says something by itself, as a node does when media flows. */
  emit<N extends MediaEventName>(type: N, data: MediaEvents[N]): void;
  /** Sends this to every server process as it is, frame or not. */
  say(text: string | Uint8Array): void;
  /** Control connections so far that were let in. */
  readonly connections: number;
  /** Those that have ended. */
  readonly ended: number;
  /** Cuts the control connections; they may come back. `forget`: as if the kept events had run out. */
  disconnect(options?: { forget?: boolean }): void;
  /** Loses a participant, or one of their tracks, without an event. */
  drop(what: { room: string; participant: string; trackId?: string }): void;
  /** The answer to every command, while it is not null, or its refusal. */
  answersWith: object | MediaErrorCode | null;
  /** The last command of each type. */
  readonly heard: ReadonlyMap<string, object>;
  /** As if no such command had come. */
  forget(type: string): void;
  /** As its processes are: who joins had better go elsewhere. */
  isBusy: boolean;
  /** How it refuses to meet other nodes; null: it knows them all. */
  refusesToMeet: MediaErrorCode | null;
  /** How many pings from now on it does not answer. */
  missesPings: number;
  /** Refuses connections until switched back. */
  isDeaf: boolean;
  /** Another life: every room is gone. */
  restart(): void;
  stop(): Promise<void>;
}

interface ProtocolNodeOptions {
  name: string;
  /** Where the control plane is. */
  url: string;
  secret: string;
  region?: string;
  capacity?: number;
  port?: number;
  /** What it proves that it knows; the secret unless it is an impostor. */
  provesWith?: string;
  /** The version in its hello; null refuses every version. */
  protocol?: number | null;
  /** Milliseconds since the epoch; the system's unless the control plane lives in another time. */
  now?: () => number;
}

/** Nothing listens there: it says what a node says. */
const pipesOf = (instanceId: string) => ({
  id: instanceId,
  host: '127.0.0.1',
  ends: [{ port: 4600, ticket: instanceId.replaceAll('-', '') }],
});

export async function startProtocolNode(options: ProtocolNodeOptions): Promise<ProtocolNode> {
  const { name, url, secret, region = 'default', capacity, now = Date.now } = options;
  let instanceId: string = randomUUID();
  let isDeaf = false;
  let isBusy = false;
  let refusesToMeet: MediaErrorCode | null = null;
  let missesPings = 0;
  let connections = 0;
  let ended = 0;
  let answersWith: ProtocolNode['answersWith'] = null;
  const heard = new Map<string, object>();
  const rooms = new Map<string, NodeRoom>();
  const controllers = new Map<string, Controller>();
  const { execute, partOf } = createNodeRooms({
    ...{ rooms, capacity, emit },
    isBusy: () => isBusy,
    refusesToMeet: () => refusesToMeet,
  });
  const sockets = new WebSocketServer({ noServer: true });
  const server: Server = createServer((_request, response) => response.writeHead(404).end());
  /** All of them, those too that are being upgraded or were replaced: `server.close` waits for each. */
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  server.on('upgrade', async (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const { searchParams } = new URL(request.url ?? '/', 'http://node');
    const bearer = request.headers.authorization?.slice('Bearer '.length) ?? '';
    const nonce = await verifyMediaControl(secret, name, now(), bearer);
    const proof = await proveMediaNode(options.provesWith ?? secret, name, instanceId, nonce ?? '');
    if (isDeaf) socket.destroy();
    else if (nonce === null) socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    else if (options.protocol === null)
      socket.end('HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    else
      sockets.handleUpgrade(request, socket, head, (ws) =>
        serve(ws, controllerOf(searchParams.get('controller') ?? ''), { since: searchParams.get('since'), proof }),
      );
  });

  function controllerOf(id: string): Controller {
    const known = controllers.get(id) ?? { id, seq: 0, kept: [], socket: null };
    controllers.set(id, known);
    return known;
  }

  function serve(
    ws: WebSocket,
    controller: Controller,
    { since, proof }: { since: string | null; proof: string },
  ): void {
    connections += 1;
    const from = since === null ? Number.NaN : Number(since);
    const isResumed = from === controller.seq || controller.kept.some(({ seq }) => seq === from + 1);
    controller.socket?.close(4409);
    controller.socket = ws;
    const { seq } = controller;
    const protocol = options.protocol ?? 1;
    const data = {
      protocol,
      node: name,
      instanceId,
      proof,
      resumed: isResumed,
      seq,
      draining: false,
      pipes: pipesOf(instanceId),
    };
    ws.send(JSON.stringify({ type: 'hello', data }));
    if (isResumed) for (const { seq, frame } of controller.kept) if (seq > from) ws.send(frame);
    ws.on('close', () => {
      ended += 1;
      if (controller.socket === ws) controller.socket = null;
    });
    ws.on('message', (bytes) => {
      const frame = JSON.parse(String(bytes)) as MediaCommandFrame;
      heard.set(frame.type, frame.data);
      if (frame.type === 'ping' && missesPings > 0) {
        missesPings -= 1;
        return;
      }
      try {
        if (typeof answersWith === 'string') throw new Refusal(answersWith);
        ws.send(JSON.stringify({ ref: frame.id, data: answersWith ?? execute(controller, frame) }));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        ws.send(JSON.stringify({ ref: frame.id, error: { code: error.code, message: error.message } }));
      }
    });
  }

  function emit<N extends MediaEventName>(type: N, data: MediaEvents[N]): void {
    const { room: id, participant } = data as { room: string; participant?: string };
    const room = rooms.get(id);
    if (!room) return;
    const owner = participant === undefined ? undefined : room.participants.get(participant)?.owner;
    const everybody = new Set([...room.openedBy, ...[...room.participants.values()].map((one) => one.owner)]);
    for (const controller of mediaEventAudience[type] === 'owner' ? (owner ? [owner] : []) : everybody) {
      controller.seq += 1;
      const frame = JSON.stringify({ seq: controller.seq, type, data });
      controller.kept.push({ seq: controller.seq, frame });
      controller.socket?.send(frame);
    }
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const internalUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const call = (method: string, path: string, body: object): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const node: ProtocolNode = {
    name,
    internalUrl,
    get instanceId() {
      return instanceId;
    },
    rooms: () =>
      new Map([...rooms].map(([id, room]) => [id, [...room.participants.values()].map((one) => one.identity)])),
    register: (fields = {}) =>
      call('POST', '/v1/rtc/servers/register', {
        name,
        region,
        publicHost: '127.0.0.1',
        internalUrl,
        ...(capacity === undefined ? {} : { capacity }),
        ...fields,
      }),
    heartbeat: (load = {}) => {
      for (const { socket } of controllers.values()) if (socket?.readyState === socket?.OPEN) socket?.ping();
      return call('PUT', `/v1/rtc/servers/${name}/heartbeat`, {
        activeRooms: rooms.size,
        activeParticipants: [...rooms.values()].reduce((sum, room) => sum + room.participants.size, 0),
        ...node.reports,
        ...load,
      });
    },
    reports: {},
    emit,
    say(text) {
      for (const { socket } of controllers.values()) socket?.send(text);
    },
    get connections() {
      return connections;
    },
    get ended() {
      return ended;
    },
    disconnect({ forget = false } = {}) {
      for (const controller of controllers.values()) {
        if (forget) controller.kept = [];
        if (forget) controller.seq += 1;
        controller.socket?.terminate();
      }
    },
    drop({ room, participant, trackId }) {
      if (trackId === undefined) rooms.get(room)?.participants.delete(participant);
      else partOf({ room, participant }).tracks.delete(trackId);
    },
    heard,
    forget: (type) => void heard.delete(type),
    get answersWith() {
      return answersWith;
    },
    set answersWith(answer) {
      answersWith = answer;
    },
    get refusesToMeet() {
      return refusesToMeet;
    },
    set refusesToMeet(code) {
      refusesToMeet = code;
    },
    get missesPings() {
      return missesPings;
    },
    set missesPings(count) {
      missesPings = count;
    },
    get isBusy() {
      return isBusy;
    },
    set isBusy(busy) {
      isBusy = busy;
    },
    get isDeaf() {
      return isDeaf;
    },
    set isDeaf(deaf) {
      isDeaf = deaf;
    },
    restart() {
      instanceId = randomUUID();
      rooms.clear();
      for (const controller of controllers.values()) controller.socket?.terminate();
      controllers.clear();
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
  return node;
}
