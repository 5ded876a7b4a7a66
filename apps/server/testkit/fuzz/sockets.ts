import { chatClientFrames, signalingClientFrames, signalingPath, signalingSubprotocol } from '@parley/contract';
import fc from 'fast-check';
import type { TObject } from 'typebox';
import { newRoom } from '../clients/rooms.ts';
import { joinRoom, nextAddress } from '../clients/signal-client.ts';
import { openSocket, type ServerFrame, type SocketClient } from '../clients/socket-client.ts';
import type { TestService } from '../kit/service.ts';
import type { World } from '../kit/world.ts';
import { chatFrameChecker, type FrameChecker, signalingFrameChecker } from './frame-checker.ts';
import { HANG_MS } from './request.ts';
import { anyText, type Hints, nearObject } from './values.ts';

/** Sockets are opened again: one that was cut for what it sent says nothing about what comes after. */
const FRAMES_PER_SOCKET = 40;
/** Sent at once, then waited for: what is sent after a cut is read by nobody. */
const FRAMES_AT_ONCE = 5;

interface SocketFuzz {
  service: TestService;
  world: World;
  seed: number;
  frames: number;
  onProgress?(frames: number): void;
}

interface SocketOutcome {
  /** Frames that were read: those of a cut socket after its last answer do not count, but for the one that cut it. */
  frames: number;
  /** Of those, before authentication, binary, too large or no text. */
  beforeAuth: number;
  unreadable: number;
  /** Frames that did what they asked for, and those that were refused, by code. */
  done: number;
  refused: Map<string, number>;
  /** Sockets the server closed, by code. */
  cut: Map<number, number>;
  faults: string[];
}

type FrameTable = Readonly<Record<string, { data: TObject }>>;
type Frame = string | Buffer;

/** One of the two sockets. */
interface Door {
  path: string;
  subprotocol: string;
  table: FrameTable;
  checker: FrameChecker;
  frameBytesMax: number;
  /** Frames that the table says are never answered. */
  silent: readonly string[];
  token(): Promise<string>;
  /** Gets in properly; the hints are of what this client may touch. */
  open(): Promise<{ client: SocketClient; hints: Hints }>;
}

/** Sends frames the tables nearly take over both sockets: got in properly, before they did, and not even text. */
export async function fuzzSockets({ service, world, seed, frames, onProgress }: SocketFuzz): Promise<SocketOutcome> {
  const outcome: SocketOutcome = {
    frames: 0,
    beforeAuth: 0,
    unreadable: 0,
    done: 0,
    refused: new Map(),
    cut: new Map(),
    faults: [],
  };
  const doors = [chatSocket(service, world), signalingSocket(service, world)];
  for (let round = 0; outcome.frames < frames; round += 1)
    for (const door of doors) {
      const play = createPlay(door, outcome);
      const { client, hints } = await door.open();
      await play(client, fc.sample(frameOf(door.table, hints), { seed: seed + round, numRuns: FRAMES_PER_SOCKET }));
      if (round % 2 === 0)
        outcome.beforeAuth += await play(
          await openUnauthenticated(door),
          await firstFrames(door, world.ids, seed + round),
        );
      if (round % 4 === 0)
        outcome.unreadable += await play((await door.open()).client, [unreadableFrame(door, round / 4)]);
      onProgress?.(outcome.frames);
    }
  return outcome;
}

function chatSocket(service: TestService, world: World): Door {
  const api = service.as(world.apiKey);
  const path = '/v1/chat/ws';
  const subprotocol = 'svc.chat.v1';
  const token = async () => (await api.call('mintChatToken', { body: { userId: 'ada' } })).token;
  return {
    path: `${service.url}${path}`,
    subprotocol,
    table: chatClientFrames,
    checker: chatFrameChecker,
    frameBytesMax: service.config.limits.CHAT_MAX_FRAME_BYTES,
    silent: [],
    token,
    async open() {
      const room = (await api.call('createConversation', { body: { name: newId(), members: ['ada', 'grace'] } })).id;
      const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'x', senderId: 'ada' } });
      const bearer = await token();
      const client = await openSocket(`${service.url}${path}`, { protocols: [subprotocol, `bearer.${bearer}`] });
      await client.take('hello');
      const hints = {
        conversation: room,
        conversations: room,
        ref: room,
        messageId,
        replyTo: messageId,
        token: bearer,
      };
      return { client, hints: { ...hints, emoji: '👍' } };
    },
  };
}

function signalingSocket(service: TestService, world: World): Door {
  const api = service.as(world.apiKey);
  const token = async () => {
    const body = { participantIdentity: 'ada', permissions: { publish: true, publishData: true } };
    return (await api.call('mintRtcToken', { roomId: (await newRoom(api)).id, body })).token;
  };
  return {
    path: `${service.url}${signalingPath}`,
    subprotocol: signalingSubprotocol,
    table: signalingClientFrames,
    checker: signalingFrameChecker,
    frameBytesMax: service.config.limits.SIGNALING_MAX_MESSAGE_BYTES,
    silent: ['stats'],
    token,
    async open() {
      const bearer = await token();
      const client = await joinRoom(service.url, bearer);
      const [trackId = ''] = await client.publish('AUDIO');
      return { client, hints: { trackId, trackIds: trackId, to: 'ada', identities: 'ada', connectionId: 'fuzz' } };
    },
  };
}

/** A socket that has not said who it is. */
const openUnauthenticated = ({ path, subprotocol }: Door): Promise<SocketClient> =>
  openSocket(path, { protocols: [subprotocol], headers: { 'x-forwarded-for': nextAddress() } });

let named = 0;
const newId = (): string => `fuzz-${++named}`;

function frameOf(table: FrameTable, hints: Hints): fc.Arbitrary<string> {
  const known = Object.entries(table).map(([type, { data }]) =>
    nearObject(data, hints).map((value) => JSON.stringify({ ...value, type, id: newId() })),
  );
  const unknown = fc.oneof(
    anyText(200),
    fc.json({ maxDepth: 4 }),
    fc.string({ maxLength: 30 }).map((type) => JSON.stringify({ type, id: newId() })),
    fc.constantFrom('{', '[]', 'null', '{"type":1}', '{"type":"ping","id":{}}', '['.repeat(5000)),
  );
  return fc.oneof({ arbitrary: fc.oneof(...known), weight: 9 }, { arbitrary: unknown, weight: 1 });
}

/** What an unauthenticated client sends: a frame of the table, half of the time one that says it. */
async function firstFrames({ table, token }: Door, ids: Hints, seed: number): Promise<string[]> {
  const saying = Object.fromEntries(Object.entries(table).filter(([type]) => type === 'auth' || type === 'join'));
  const hints = { ...ids, token: await token() };
  return fc.sample(fc.oneof(frameOf(saying, hints), frameOf(table, hints)), { seed, numRuns: 2 });
}

/** Bytes that are no frame: binary, one byte too many, or text that is no UTF-8. */
function unreadableFrame({ frameBytesMax }: Door, round: number): Frame {
  const kinds: Frame[] = [Buffer.from('{"type":"ping"}'), 'x'.repeat(frameBytesMax + 1), Buffer.from([0xc3, 0x28])];
  return kinds[round % kinds.length] ?? '';
}

const NO_UTF8 = 1007;
const isNoText = (frame: Frame): boolean => typeof frame !== 'string' && frame[0] === 0xc3;

/** Sends frames in small groups until all are read or the socket is cut; gives how many were read. */
function createPlay(door: Door, outcome: SocketOutcome): (client: SocketClient, frames: Frame[]) => Promise<number> {
  return async (client, frames) => {
    const blame = (what: string): void => void outcome.faults.push(`${what}\nafter\n${frames.map(String).join('\n')}`);
    const received = client.frames.length;
    let read = 0;
    for (let first = 0; first < frames.length && !client.closed; first += FRAMES_AT_ONCE) {
      const group = frames.slice(first, first + FRAMES_AT_ONCE);
      const before = client.frames.length;
      for (const frame of group) client.ws.send(frame, { binary: typeof frame !== 'string' && !isNoText(frame) });
      const end = await nextAnswer(client);
      read += end === 'answered' ? group.length : 1;
      if (end === 'silent')
        blame(
          `received only ${JSON.stringify(client.frames.slice(before)).slice(0, 1000)} to ${group.map(String).join('\n')}`,
        );
      if (end !== 'answered') break;
      const missing = unanswered(client.frames.slice(before), group, door);
      if (missing > 0) blame(`${missing} of these were not answered: ${group.map(String).join('\n')}`);
    }
    if (client.closed) {
      const { closed } = client;
      outcome.cut.set(closed.code, (outcome.cut.get(closed.code) ?? 0) + 1);
      const isOwed = closed.code === NO_UTF8 && frames.some(isNoText);
      const problem = isOwed ? null : door.checker.end(closed);
      if (problem !== null) blame(problem);
    } else await client.close();
    for (const frame of client.frames.slice(received)) {
      const problem = door.checker.frame(frame);
      const asked = frames.find((one) => String(one).includes(`"id":"${frame.ref}"`)) ?? 'what was sent';
      if (problem !== null) blame(`${problem} to ${asked}`);
      note(frame, outcome);
    }
    outcome.frames += read;
    return read;
  };
}

function note(frame: ServerFrame, outcome: SocketOutcome): void {
  if (!frame.ref?.startsWith('fuzz-')) return;
  if (frame.type !== 'error') outcome.done += 1;
  else outcome.refused.set(String(frame['code']), (outcome.refused.get(String(frame['code'])) ?? 0) + 1);
}

/** Frames are answered in order: the answer to what follows the group shows that the group was read. */
async function nextAnswer(client: SocketClient): Promise<'answered' | 'closed' | 'silent'> {
  const id = `probe-${++named}`;
  const { promise, resolve } = Promise.withResolvers<'answered' | 'closed' | 'silent'>();
  const listen = (data: unknown): void => {
    if ((JSON.parse(String(data)) as ServerFrame).ref === id) resolve('answered');
  };
  const onClose = (): void => resolve('closed');
  const timer = setTimeout(() => resolve('silent'), HANG_MS);
  client.ws.on('message', listen).on('close', onClose);
  if (client.closed) onClose();
  else client.ws.send(JSON.stringify({ type: 'is-anybody-there', id }));
  const end = await promise;
  clearTimeout(timer);
  client.ws.off('message', listen).off('close', onClose);
  return end;
}

/** How many of the group nobody answered. One that cannot be read is answered without its id. */
function unanswered(received: readonly ServerFrame[], group: readonly Frame[], { silent }: Door): number {
  const isSilent = (frame: Frame): boolean => silent.some((type) => String(frame).includes(`"type":"${type}","id":`));
  const answers = received.filter(({ type, ref }) =>
    ref === undefined ? type === 'error' : group.some((frame) => String(frame).includes(`"id":"${ref}"`)),
  );
  return group.filter((frame) => !isSilent(frame)).length - answers.length;
}
