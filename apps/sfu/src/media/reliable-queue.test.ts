import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DATA_FLOW } from '@parley/media-description';
import { DataFlow } from './data-flow.ts';
import { ReliableQueue } from './reliable-queue.ts';

/** A transport as the queue sees it: what it took, and how much of it waits. */
function newTransport() {
  const transport = {
    isOpen: true,
    queued: 0,
    bytesMax: 1 << 20,
    took: [] as number[],
    isDataOpen: () => transport.isOpen,
    queuedData: () => transport.queued,
    sendData(_: string, bytes: Uint8Array) {
      if (!transport.isOpen || bytes.length > transport.bytesMax) return 'closed' as const;
      transport.took.push(bytes[0] ?? 0);
      return 'sent' as const;
    },
  };
  return transport;
}

function stage() {
  let transport = newTransport();
  const queue = new ReliableQueue(() => transport);
  const send = (number: number, sender = 'ada', now = 0, length = 1) =>
    queue.send(new Uint8Array(length).fill(number), sender, now);
  /** Gets another transport, which is not open yet. */
  const replace = (received: number | undefined, now = 0) => {
    const missed = queue.replace(received, now);
    transport = Object.assign(newTransport(), { isOpen: false });
    return { missed, transport };
  };
  return { queue, first: transport, send, replace };
}
const SECOND = 1000;
const QUARTER = 1 << 18;

test('[MED-109] what the client has not received goes by the next transport, before what came meanwhile', () => {
  const { queue, first, send, replace } = stage();
  for (const number of [1, 2, 3, 4]) send(number);
  assert.deepEqual(first.took, [1, 2, 3, 4]);
  const { missed, transport } = replace(2);
  assert.deepEqual(missed, []);
  assert.equal(send(5), 'sent');
  queue.flush(SECOND);
  assert.deepEqual(transport.took, []);
  transport.isOpen = true;
  assert.equal(send(6), 'sent', 'it does not overtake');
  assert.deepEqual(queue.flush(SECOND), []);
  send(7);
  assert.deepEqual(transport.took, [3, 4, 5, 6, 7]);

  // That one is lost as well, and the next never opens.
  replace(1);
  const last = replace(0).transport;
  last.isOpen = true;
  queue.flush(SECOND);
  assert.deepEqual(last.took, [4, 5, 6, 7]);
  replace(4);
  assert.ok(!queue.isWaiting, 'a client that had all of it gets nothing again');
});

test('[MED-109] what is sent after a channel has closed goes by the next transport too; without one, by signaling again', () => {
  const { queue, first, send, replace } = stage();
  first.isOpen = false;
  assert.equal(send(1), 'closed', 'it has carried nothing: the client may have no other way');
  first.isOpen = true;
  send(2);
  first.isOpen = false;
  assert.deepEqual([send(3), queue.flush(14 * SECOND)], ['sent', []]);
  const { transport } = replace(1, 14 * SECOND);
  transport.isOpen = true;
  queue.flush(14 * SECOND);
  assert.deepEqual(transport.took, [3]);

  transport.isOpen = false;
  assert.equal(send(4, 'ada', 20 * SECOND), 'sent');
  assert.deepEqual(queue.flush(35 * SECOND), ['ada']);
  assert.equal(send(5), 'closed');
});

test('[MED-109] what is sent while the next transport opens goes by it, also where the client had all of the one before', () => {
  const { queue, send, replace } = stage();
  send(1);
  const { transport } = replace(1, SECOND);
  assert.deepEqual([send(2, 'ada', 2 * SECOND, 20_000), send(3, 'ada', 2 * SECOND)], ['sent', 'sent']);
  transport.isOpen = true;
  queue.flush(3 * SECOND);
  assert.deepEqual(transport.took, [2, 3]);

  replace(2, 20 * SECOND);
  replace(0, 30 * SECOND);
  assert.equal(send(4, 'ada', 34 * SECOND), 'sent');
  assert.deepEqual(queue.flush(34 * SECOND), []);
  assert.deepEqual(queue.flush(35 * SECOND), ['ada']);
  assert.equal(send(5, 'ada', 35 * SECOND), 'closed', 'the client asks and asks, and has no other way');
});

test('[MED-109] a channel that closes with the last message that it took does not have it come twice', () => {
  const { queue, send, replace } = stage();
  send(1);
  const { transport } = replace(0);
  send(2);
  const { sendData } = transport;
  transport.isOpen = true;
  transport.sendData = (name, bytes) => {
    const outcome = sendData(name, bytes);
    transport.isOpen = false;
    return outcome;
  };
  queue.flush(0);
  assert.deepEqual(transport.took, [1]);
  const last = replace(0).transport;
  last.isOpen = true;
  queue.flush(0);
  assert.deepEqual(last.took, [1, 2]);
});

test('[MED-110] a message that the client cannot take does not keep the others back', () => {
  const { queue, send, replace } = stage();
  send(1);
  const { transport } = replace(0);
  send(2, 'bob', 0, 100);
  send(3);
  Object.assign(transport, { isOpen: true, bytesMax: 99 });
  assert.deepEqual(queue.flush(0), ['bob']);
  assert.deepEqual(transport.took, [1, 3]);
  assert.equal(send(4, 'bob', 0, 100), 'closed', 'nor does it wait');
});

test('[MED-109] a client that says nonsense gets no more than there is', () => {
  const { queue, send, replace } = stage();
  send(1);
  const { transport } = replace(Number.MAX_SAFE_INTEGER);
  transport.isOpen = true;
  queue.flush(0);
  assert.deepEqual([send(2), transport.took], ['sent', [2]]);
});

test('[MED-110] who sent what is not kept any more, or may have arrived, hears that it is missed', () => {
  const { queue, send, replace } = stage();
  send(1, 'ada', 0, QUARTER);
  send(2, 'bob', 0, QUARTER);
  for (const number of [3, 4, 5, 6]) send(number, 'cy', 0, QUARTER - 200);
  const { missed, transport } = replace(1);
  assert.deepEqual(missed, ['bob']);
  transport.isOpen = true;
  queue.flush(0);
  assert.deepEqual(transport.took, [3, 4, 5, 6]);

  send(7, 'dan', 30 * SECOND);
  assert.deepEqual(replace(undefined, 40 * SECOND).missed, ['cy', 'dan'], 'it does not say what it had');
  assert.ok(!queue.isWaiting);
});

test('[MED-110] what waits longer than 15 s for the next transport is missed, and so is what finds no place there', () => {
  const { queue, send, replace } = stage();
  send(1);
  replace(0);
  assert.deepEqual(
    [2, 3, 4].map((number) => send(number, 'bob', 0, QUARTER)),
    ['slow', 'slow', 'slow'],
  );
  assert.equal(send(5, 'bob', 0, QUARTER), 'full');
  assert.deepEqual(queue.flush(14 * SECOND), []);
  assert.deepEqual(queue.flush(15 * SECOND), ['ada', 'bob', 'bob', 'bob']);
  assert.equal(send(6), 'closed', 'it may come by signaling again');
});

test('[MED-110] what was sent more than a minute ago has arrived, or was missed by nobody who is still there', () => {
  const { queue, send, replace } = stage();
  send(1, 'ada', 0);
  send(2, 'bob', 30 * SECOND);
  queue.expire(60 * SECOND + 1);
  assert.deepEqual(replace(undefined, 60 * SECOND + 1).missed, ['bob']);
});

test('[MED-110] with a receiver that was lost goes what it may not have had; one that left had it', () => {
  const lost = stage();
  lost.send(1);
  lost.send(2);
  assert.deepEqual(lost.queue.close(true, SECOND), ['ada']);
  const left = stage();
  left.send(1);
  assert.deepEqual(left.queue.close(false, SECOND), []);
  const waiting = stage();
  waiting.send(1);
  waiting.replace(0);
  assert.deepEqual(waiting.queue.close(false, SECOND), ['ada'], 'that is known');
});

test('[MED-111] who waits for a slow receiver whose transport closes does not hear that it has read', () => {
  const { queue, first, send } = stage();
  const told: number[] = [];
  const flow = new DataFlow((_, state) => told.push(state));
  send(1);
  first.queued = QUARTER;
  flow.queued('ada', queue, 0);
  Object.assign(first, { isOpen: false, queued: 0 });
  flow.tick(4 * SECOND);
  assert.deepEqual(told, [DATA_FLOW.held]);
  flow.tick(6 * SECOND);
  assert.deepEqual(told, [DATA_FLOW.held, DATA_FLOW.missed]);

  const back = stage();
  back.send(1);
  flow.queued('ada', back.queue, 10 * SECOND);
  const { transport } = back.replace(0);
  back.send(2, 'ada', 0, QUARTER);
  flow.tick(12 * SECOND);
  assert.equal(told.length, 3);
  transport.isOpen = true;
  back.queue.flush(13 * SECOND);
  flow.tick(13 * SECOND);
  assert.deepEqual(told.slice(2), [DATA_FLOW.held, DATA_FLOW.open]);
});
