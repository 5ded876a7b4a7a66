import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayPublish } from './permissions.ts';
import { Speakers } from './speakers.ts';

test('[MED-21] a speaker is reported once, and again when silent', () => {
  const speakers = new Speakers();
  for (let packet = 0; packet < 25; packet += 1) {
    speakers.addLevel('alice', 20);
    speakers.addLevel('bob', 127);
  }
  assert.deepEqual(speakers.takeChanges(), [{ identity: 'alice', level: 0.1, active: true }]);
  for (let packet = 0; packet < 25; packet += 1) speakers.addLevel('alice', 21);
  assert.deepEqual(speakers.takeChanges(), []);
  assert.deepEqual(speakers.takeChanges(), [{ identity: 'alice', level: 0, active: false }], 'no packets at all: DTX');
});

test('[MED-22] publish flags as S14 reads them', () => {
  const of = (publish: boolean, publishAudio: boolean, publishVideo: boolean) => {
    const permissions = { join: true, subscribe: true, publishData: false, publish, publishAudio, publishVideo };
    return [mayPublish(permissions, 'AUDIO'), mayPublish(permissions, 'VIDEO')];
  };
  assert.deepEqual(of(false, true, true), [false, false]);
  assert.deepEqual(of(true, false, false), [true, true]);
  assert.deepEqual(of(true, true, true), [true, true]);
  assert.deepEqual(of(true, true, false), [true, false]);
  assert.deepEqual(of(true, false, true), [false, true]);
});
