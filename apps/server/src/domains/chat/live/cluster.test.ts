import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { checkHistory, type LogEntry } from '../../../../testkit/chat/history-checker.ts';
import { openSocket, type ServerFrame, type SocketClient } from '../../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';

/** Several processes' worth of service on one database and one bus. */
const env = {
  CHAT_SEND_RATE_LIMIT: '100000',
  CHAT_CONNECT_RATE_LIMIT: '100000',
  CHAT_SUBSCRIBE_RATE_LIMIT: '100000',
};
let services: TestService[];
let chat: ChatOf;
before(async () => {
  const first = await startService({ env });
  services = [first, await startService({ env, beside: first }), await startService({ env, beside: first })];
  chat = await createChatKit(first);
});
after(async () => {
  for (const service of [...services].reverse()) await service.stop();
});

const at = (place: number): TestService => services[place % services.length] ?? assert.fail('no service');
const apiAt = (place: number) => at(place).as(chat.project.apiKey);

interface Received {
  key: string;
  seq: number;
  change: number;
}

/** Messages a client has received, live or recovered, each change once and by number. */
function receivedBy(frames: readonly ServerFrame[], conversationId: string): Received[] {
  const byChange = new Map<number, Received>();
  const note = (frame: Record<string, unknown>): void => {
    const message = frame['message'] as { clientMessageId: string; seq: number } | undefined;
    if (frame['type'] !== 'message' || !message) return;
    const change = Number(frame['change']);
    byChange.set(change, { key: message.clientMessageId, seq: message.seq, change });
  };
  for (const frame of frames) {
    if (frame['conversationId'] !== conversationId) continue;
    if (frame.type === 'recovered') for (const change of frame['changes'] as Record<string, unknown>[]) note(change);
    else note(frame);
  }
  return [...byChange.values()].sort((a, b) => a.change - b.change);
}

async function wholeHistory(room: string): Promise<{ key: string; seq: number }[]> {
  const all: { key: string; seq: number }[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const query = { limit: 100, ...(before ? { before } : {}) };
    const page = await apiAt(0).call('listMessages', { room, query });
    all.push(...page.messages.map(({ clientMessageId, seq }) => ({ key: clientMessageId ?? '', seq })));
    before = page.nextCursor;
  }
  return all.reverse();
}

/** Sixteen writers over all processes; each send is logged before and after. */
async function write(room: string, log: LogEntry[], each: number): Promise<void> {
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let place = 0; place < each; place++) {
      const key = `${writer}/${place}`;
      log.push({ is: 'invoke', key });
      const body = { text: key, senderId: `w${writer}`, clientMessageId: key };
      const { seq, change } = await apiAt(writer).call('sendMessage', { room, body });
      log.push({ is: 'ok', key, seq, change });
    }
  });
  await Promise.all(writers);
}

test('[DIR-2] forty callers on three processes, in any order of the people: one direct conversation', async () => {
  const people = ['ann', 'ben', 'cem', 'dia'];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, place) => {
      const userIds = [...people.slice(place % 4), ...people.slice(0, place % 4)];
      return apiAt(place).request('openDirectConversation', { body: { userIds } });
    }),
  );
  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1);
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  const all = await apiAt(0).call('listConversations');
  assert.equal(all.filter(({ type }) => type === 'DIRECT').length, 1);
});

test('[CHATWS-2] sixteen writers on three processes: every subscriber hears everything once, as history has it', async () => {
  const { id } = await chat.conversation(['alice']);
  const { token } = await chat.user('alice');
  const clients: SocketClient[] = [];
  for (const service of services) {
    const client = await openSocket(`${service.url}/v1/chat/ws?token=${token}`);
    await subscribe(client, id);
    clients.push(client);
  }
  const log: LogEntry[] = [];
  await write(id, log, 12);
  const history = await wholeHistory(id);
  assert.equal(history.length, 192);
  await eventually(() => clients.every((client) => receivedBy(client.frames, id).length === history.length));
  const sightings = clients.map((client, place) => ({ by: `client ${place}`, keys: receivedBy(client.frames, id) }));
  assert.deepEqual(checkHistory(log, history, sightings), []);
  for (const client of clients) {
    const numbers = client.frames.filter(({ type }) => type === 'message').map((frame) => Number(frame['change']));
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
      'in the order of change',
    );
    await client.close();
  }
});

test('[CHATWS-3] sixty disconnects under traffic, each to another process: each change exactly once', async () => {
  const { id } = await chat.conversation(['alice']);
  const { token } = await chat.user('alice');
  const log: LogEntry[] = [];
  let isWriting = true;
  const writing = write(id, log, 12).finally(() => {
    isWriting = false;
  });
  const frames: ServerFrame[] = [];
  let since = 0;
  for (let cycle = 0; cycle < 60 || isWriting; cycle++) {
    const client = await openSocket(`${at(cycle).url}/v1/chat/ws?token=${token}`);
    const answer = await subscribe(client, id, { since });
    assert.equal(answer['recovered'], true);
    await client.ask({ type: 'ping' });
    await client.close();
    frames.push(...client.frames);
    since = receivedBy(frames, id).at(-1)?.change ?? since;
  }
  await writing;
  const last = await openSocket(`${at(0).url}/v1/chat/ws?token=${token}`);
  await subscribe(last, id, { since });
  const history = await wholeHistory(id);
  await eventually(() => receivedBy([...frames, ...last.frames], id).length === history.length);
  frames.push(...last.frames);
  assert.deepEqual(checkHistory(log, history, [{ by: 'alice', keys: receivedBy(frames, id) }]), []);
  await last.close();
});
