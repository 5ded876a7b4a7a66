import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outdate, stateOf } from './participant-state.ts';
import type { Participant } from './room-types.ts';

test('[SDK-71] metadata is read when it changes, not with every change of the participant', () => {
  let reads = 0;
  /** Counts how often it is parsed. */
  const metadata = (text: string): string =>
    ({
      0: text[0],
      toString() {
        reads += 1;
        return text;
      },
    }) as unknown as string;
  // What a state is drawn from.
  const bob = {
    identity: 'bob',
    isLocal: false,
    metadata: metadata('{"name":"Bob Ross"}'),
    audioLevel: 0,
    publications: new Map(),
    tracks: new Map(),
  } as unknown as Participant & { metadata: string; audioLevel: number };
  for (const level of [0, 0.1, 0.2]) {
    bob.audioLevel = level;
    outdate(bob);
    assert.deepEqual([stateOf(bob).name, stateOf(bob).audioLevel], ['Bob Ross', level]);
  }
  assert.equal(reads, 1);
  bob.metadata = metadata('{"name":"Bob"}');
  outdate(bob);
  assert.deepEqual([stateOf(bob).name, reads], ['Bob', 2]);
});
