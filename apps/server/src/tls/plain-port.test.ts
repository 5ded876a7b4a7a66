import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../testkit/kit/fake-clock.ts';
import { ownPort } from '../../testkit/kit/ports.ts';
import { createLog } from '../core/log.ts';
import { createPlainPort } from './plain-port.ts';

const clock = createFakeClock();

async function openPort(t: TestContext, keyAuthorizationOf: () => Promise<string | null>, requestMsMax?: number) {
  const plainPort = await ownPort();
  const warnings: string[] = [];
  const log = { ...createLog('silent'), warn: (_fields: object, message: string) => void warnings.push(message) };
  const port = createPlainPort({
    plainPort,
    host: '127.0.0.1',
    publicUrl: 'https://calls.test',
    keyAuthorizationOf,
    edge: () => ({ requestIdOf: () => 'req', refuse: () => ({ status: 403, headers: {}, body: {} }) }),
    clock,
    log,
    ...(requestMsMax === undefined ? {} : { requestMsMax }),
  });
  await port.start();
  t.after(port.stop);
  return { plainPort, warnings };
}

/** Silent connections, and how many of them the port has closed. */
function connectSilently(t: TestContext, port: number, count: number): () => number {
  let closed = 0;
  for (let n = 0; n < count; n++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.resume().once('close', () => closed++);
    t.after(() => socket.destroy());
  }
  return () => closed;
}

test('[TLS-14] one address has 32 connections on the plain port, and a silent one is closed', async (t) => {
  const patient = await openPort(t, async () => null, 600_000);
  const refused = connectSilently(t, patient.plainPort, 40);
  await eventually(() => assert.equal(refused(), 8));
  const hasty = await openPort(t, async () => null, 100);
  const closed = connectSilently(t, hasty.plainPort, 3);
  await eventually(() => assert.equal(closed(), 3));
});

test('[TLS-14] proofs that cannot be read are logged once a minute', async (t) => {
  const { plainPort, warnings } = await openPort(t, () => Promise.reject(new Error('no database')));
  const ask = () => assert.rejects(fetch(`http://127.0.0.1:${plainPort}/.well-known/acme-challenge/a`));
  for (let n = 0; n < 3; n++) await ask();
  assert.equal(warnings.length, 1);
  clock.jump(60_000);
  await ask();
  assert.equal(warnings.length, 2);
});
