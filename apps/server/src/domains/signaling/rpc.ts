import { type FrameData, fail, type RpcError, type SignalingClientFrames } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import { assertPayloadFits, type RoomMessage, type Rooms } from '../rooms/index.ts';
import { type Member, sendTo } from './member.ts';

interface RpcDeps {
  clock: Clock;
  ids: Ids;
  rooms: Rooms;
}

interface Pending {
  member: Member;
  to: string;
  answered: AbortController;
}

const timeoutMsDefault = 10_000;
/** Questions one participant may have open. */
const openMax = 50;

/** Questions between participants, wherever their sockets are. The asker's process keeps the time. */
export function createRpc({ clock, ids, rooms }: RpcDeps) {
  const pending = new Map<string, Pending>();

  function settle(requestId: string, answer: { payload: string | null; error: RpcError | null }): void {
    const asked = pending.get(requestId);
    if (!asked) return;
    pending.delete(requestId);
    asked.answered.abort();
    sendTo(asked.member, 'rpc.response', { requestId, from: asked.to, ...answer, at: iso(clock.now()) });
  }

  async function request(
    member: Member,
    { to, method, payload, timeoutMs = timeoutMsDefault }: FrameData<SignalingClientFrames['rpc.request']>,
  ): Promise<{ requestId: string }> {
    const { session } = member;
    if (!session.permissions.publishData) fail('SVC_DATA_NOT_ALLOWED');
    assertPayloadFits({ payload: payload ?? '' });
    const peer = await rooms.joinedAs(session.roomId, to);
    if (!peer) fail('SVC_PARTICIPANT_NOT_FOUND');
    if (!peer.permissions.publishData) fail('SVC_DATA_NOT_ALLOWED');
    const open = [...pending.values()].filter((asked) => asked.member === member).length;
    if (open >= openMax) fail('SVC_RATE_LIMITED', { retryAfterSeconds: 1 });

    const requestId = ids.newUuid();
    const answered = new AbortController();
    pending.set(requestId, { member, to, answered });
    void clock
      .sleep(timeoutMs, answered.signal)
      .then(() => settle(requestId, { payload: null, error: { code: 'TIMEOUT', message: 'No answer in time.' } }));
    const fields = {
      requestId,
      from: session.identity,
      method,
      payload: payload ?? null,
      timeoutMs,
      at: iso(clock.now()),
    };
    rooms.roomBus.publish(session.roomId, { is: 'frame', to: [to], type: 'rpc.request', fields });
    return { requestId };
  }

  async function respond(
    { session }: Member,
    { requestId, payload, error }: FrameData<SignalingClientFrames['rpc.response']>,
  ): Promise<undefined> {
    if (!session.permissions.publishData) fail('SVC_DATA_NOT_ALLOWED');
    assertPayloadFits({ payload: payload ?? '' });
    rooms.roomBus.publish(session.roomId, {
      is: 'rpcAnswer',
      requestId,
      from: session.identity,
      payload: payload ?? null,
      error: error ?? null,
    });
  }

  /** A response counts only from the participant that was called, and in the room of the call. */
  function receive(
    roomId: string,
    { requestId, from, payload, error }: Extract<RoomMessage, { is: 'rpcAnswer' }>,
  ): void {
    const asked = pending.get(requestId);
    if (asked?.to === from && asked.member.session.roomId === roomId) settle(requestId, { payload, error });
  }

  /** Drops the open requests of a member who left. */
  function forget(member: Member): void {
    for (const [requestId, asked] of pending) {
      if (asked.member !== member) continue;
      pending.delete(requestId);
      asked.answered.abort();
    }
  }

  return { request, respond, receive, forget };
}
