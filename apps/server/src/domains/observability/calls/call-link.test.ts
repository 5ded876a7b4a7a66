import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import type { Keyring } from '../../../core/keyring.ts';
import { createCallLinks } from './call-link.ts';

const mac = (purpose: string, body: string): Buffer => createHmac('sha256', purpose).update(body).digest();
const keyring = {
  mac,
  isMac: (purpose: string, body: string, given: Buffer) => mac(purpose, body).equals(given),
} as unknown as Keyring;

test('[OBS-28] a link opens for 24 hours and not a moment longer', () => {
  const clock = createFakeClock();
  const links = createCallLinks({ keyring, clock, publicUrl: 'https://parley.example' });
  const scope = { projectId: 'p', environment: 'PRODUCTION' } as const;
  const { url, expiresAt } = links.write(scope, 'call', true);
  const token = new URL(url).hash.slice(1);
  const read = () => links.read(token);
  clock.step(24 * 60 * 60 * 1000 - 1);
  assert.deepEqual(read(), { scope, id: 'call', withoutNames: true });
  clock.step(1);
  assert.equal(Date.parse(expiresAt), clock.now());
  assert.throws(read, { code: 'SVC_INVALID_TOKEN_LINK' });
});
