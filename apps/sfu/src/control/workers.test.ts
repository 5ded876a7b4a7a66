import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { eventually } from '../../testkit/node.ts';
import type { WorkerMessage } from './worker-protocol.ts';
import { Worker } from './workers.ts';

/** A process of the system as Node shows it: what it said may be read after it has exited. */
class Child extends EventEmitter {
  readonly connected = true;

  says(message: WorkerMessage): void {
    this.emit('message', message);
  }

  kill(): boolean {
    return this.emit('exit', null, 'SIGTERM');
  }
}

test('[MED-78] what a process said before it exited counts no more once it has, neither while it is gone nor after another started', async () => {
  let now = 0;
  const children: Child[] = [];
  const heard: string[] = [];
  const problems: unknown[] = [];
  let lost = 0;
  const worker = new Worker({
    index: 0,
    settings: { udpPort: 4443, bindAddress: null, candidates: [] },
    iceKey: Buffer.alloc(32),
    clock: { now: () => now, wall: () => now },
    fork() {
      const child = new Child();
      children.push(child);
      return child as unknown as ChildProcess;
    },
    onEvent: ({ data }) => heard.push(data.room),
    onLost: () => {
      lost += 1;
    },
    onError: (error) => problems.push(error),
  });
  const [first = assert.fail()] = children;
  const closed = (room: string): WorkerMessage => ({
    kind: 'event',
    event: { type: 'room.closed', data: { room, reason: 'ROOM_CLOSED' } },
  });
  first.says({ kind: 'ready', pipePort: 1, fleetPort: null });
  await worker.started;
  first.says(closed('before'));
  assert.deepEqual(heard, ['before']);

  // It was stable, so the next one starts at once.
  now = 60_000;
  first.kill();
  assert.deepEqual([lost, worker.isReady], [1, false]);
  first.says(closed('late'));
  const next = await eventually(() => children[1], 'no other process was started');
  first.says({ kind: 'ready', pipePort: 1, fleetPort: null });
  first.says(closed('later'));
  assert.deepEqual([heard, worker.isReady], [['before'], false]);
  next.says({ kind: 'ready', pipePort: 2, fleetPort: null });
  next.says(closed('after'));
  assert.deepEqual([heard, worker.pipePort], [['before', 'after'], 2]);
  await worker.stop();
  assert.deepEqual(problems, []);
});
