import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Api } from '@parley/server';
import { everyPermission, joinRoom, type SignalClient } from '../../../apps/server/testkit/clients/signal-client.ts';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';
import { beat } from '../../../e2e/rtp-caller.ts';
import { type Call, startCall } from '../faults/call.ts';

/** One sends video, another receives it, each at a server of their own. */
export interface AcrossCall {
  /** The media node it is on. */
  node(): string;
  /** Packets arrive from now on, too. */
  flows(): Promise<void>;
  /** Who was thrown out comes back here, and nothing of the call was lost. */
  resumeAt(url: string): Promise<void>;
  /** Everybody is sent away by the node that stops, and comes again. */
  rejoinAt(url: string): Promise<void>;
  end(): void;
}

const patient = { withinMs: 60_000, everyMs: 100 };
const roles = ['sender', 'receiver', 'visitor'] as const;

/** In a new room that prefers this region. */
export async function startCallAcross(api: Api, urls: readonly [string, string], region: string): Promise<AcrossCall> {
  const { id: roomId } = await api.call('createRoom', { body: { name: `call-${randomUUID()}`, region } });
  const tokens = { sender: '', receiver: '', visitor: '' };
  for (const role of roles) {
    const body = { participantIdentity: role, permissions: everyPermission };
    tokens[role] = (await api.call('mintRtcToken', { roomId, body })).token;
  }
  let call = await startCall(urls, tokens);
  let clients = [...call.clients];
  const resumed: SignalClient[] = [];

  async function flows(): Promise<void> {
    const before = call.packets();
    await eventually(() => assert.ok(call.packets() > before + 40, 'no packets arrive'), patient);
  }

  async function resume(client: SignalClient, token: string, url: string): Promise<SignalClient> {
    await eventually(() => client.closed !== null, patient);
    const { sessionId, resumeToken } = client.joined;
    const options = {
      connectionId: client.connectionId,
      resume: { sessionId, resumeToken, lastSeq: client.highestSeq() },
    };
    const again = await joinRoom(url, token, options);
    assert.equal(again.joined.resumed, true, 'a session is resumed at the other server');
    beat(again);
    resumed.push(again);
    return again;
  }

  function end(): void {
    call.end();
    for (const { ws } of resumed) ws.terminate();
  }

  return {
    node: () => call.node,
    flows,
    async resumeAt(url) {
      clients = await Promise.all(
        clients.map((client, place) =>
          urls[place] === url ? client : resume(client, tokens[roles[place] ?? 'sender'], url),
        ),
      );
      await flows();
    },
    async rejoinAt(url) {
      for (const client of clients) await eventually(() => client.closed !== null, patient);
      end();
      call = await eventually((): Promise<Call> => startCall([url, url], tokens), patient);
      clients = [...call.clients];
      await flows();
    },
    end,
  };
}
