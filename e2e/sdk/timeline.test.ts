import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ErrorCategory } from '@parley/contract';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { type CallPage, openSdk, type SdkKit } from './kit.ts';

const skip = skipWithoutBrowser();
let kit: SdkKit;

before(async () => {
  if (skip) return;
  kit = await openSdk();
});
after(async () => {
  if (!skip) await kit.close();
});

const idOf = ({ page }: CallPage): Promise<string> => page.evaluate(() => window.caller.room.connectionId);
const soon = <T>(check: () => Promise<T>): Promise<T> => eventually(check, { withinMs: 60_000, everyMs: 250 });

/** The error a failure must leave on the connection: category, code, and advice that names the remedy. */
async function hasError(
  { api }: SdkKit,
  connectionId: string,
  category: ErrorCategory,
  code: string,
  advice: RegExp,
): Promise<void> {
  const error = await soon(async () => {
    const errors = await api.call('listErrors', { query: { connectionId } });
    const found = errors.find((one) => one.code === code);
    assert.ok(found, `${code} is not among ${errors.map((one) => one.code)}`);
    return found;
  });
  assert.equal(error.category, category);
  assert.match(error.hint ?? '', advice);
}

test('[OBS-1] a real call leaves its whole timeline, with quality, from both sides', { skip }, async () => {
  const room = await kit.newRoom();
  const [ada, bob] = [await kit.caller(room, 'ada'), await kit.caller(room, 'bob')];
  for (const one of [ada, bob]) {
    await one.join();
    await one.setCamera(true);
  }
  await ada.watches('bob');
  const connectionId = await idOf(ada);
  const expected = [
    'SERVER join.requested',
    'SERVER join.succeeded',
    'SERVER track.published',
    'CLIENT ice.checking',
    'CLIENT ice.connected',
    'CLIENT dtls.connected',
    'CLIENT track.published',
    'CLIENT track.subscribed',
    'CLIENT track.first_frame',
    'CLIENT stats.report',
  ];
  await soon(async () => {
    const { events, quality, transport } = await kit.api.call('getConnection', { connectionId });
    const seen = new Set(events.map(({ source, type }) => `${source} ${type}`));
    assert.deepEqual(
      expected.filter((step) => !seen.has(step)),
      [],
      [...seen].join(', '),
    );
    assert.ok(quality.rttMs !== null && quality.packetLossPercent !== null && transport === 'udp');
  });
  await ada.page.evaluate(() => window.caller.room.leave());
  const ended = await soon(async () => {
    const connection = await kit.api.call('getConnection', { connectionId });
    assert.equal(connection.state, 'DISCONNECTED');
    return connection;
  });
  assert.partialDeepStrictEqual(ended, {
    disconnectReason: 'CLIENT_INITIATED',
    errorCount: 0,
    tokenId: ada.tokenIds[0],
  });
  assert.ok((ended.timeToConnectMs ?? -1) >= 0 && (ended.durationMs ?? 0) > 0);
  await bob.page.evaluate(() => window.caller.room.leave());
});

test('[OBS-4] a device the person denies is DEVICE, with what to do', { skip }, async () => {
  // A browser of its own, in which every question for a device is answered with no.
  const denying = await openSdk({ args: ['--use-fake-ui-for-media-stream=deny'] });
  try {
    const dan = await denying.caller(await denying.newRoom(), 'dan');
    await dan.join();
    const refusal = await dan.page.evaluate(() =>
      window.caller.room.self.setCamera(true).then(
        () => 'came',
        (error) => `${error.code}: ${error.message}`,
      ),
    );
    assert.match(refusal, /^permission_denied: .*beside the address/);
    await hasError(denying, await idOf(dan), 'DEVICE', 'DEVICE_PERMISSION_DENIED', /allow the device in the browser/);
  } finally {
    await denying.close();
  }
});

test('[OBS-4] a token that was revoked before the join is AUTHENTICATION, with what to do', { skip }, async () => {
  const room = await kit.newRoom();
  const body = { participantIdentity: 'eve' };
  const { token, tokenId } = await kit.api.call('mintRtcToken', { roomId: room.id, body });
  await kit.api.call('revokeRtcToken', { roomId: room.id, tokenId });
  const eve = await kit.caller(room, 'eve', { room: { token } });
  const outcome = await eve.page.evaluate(() =>
    window.caller.join().then(
      () => 'joined',
      (error) => String(error.reason ?? error.code),
    ),
  );
  assert.equal(outcome, 'token_revoked');
  await hasError(kit, `refused-${tokenId}`, 'AUTHENTICATION', 'SVC_TOKEN_REVOKED', /mint a new one/);
});

test('[OBS-4] a network that lets no UDP through is ICE, with what to open', { skip }, async () => {
  kit.setLoss(1);
  try {
    const uma = await kit.caller(await kit.newRoom(), 'uma');
    await uma.join();
    await uma.setMicrophone(true).catch(() => {});
    await hasError(kit, await idOf(uma), 'ICE', 'ICE_FAILED', /UDP port.*TURN/);
    await uma.page.evaluate(() => window.caller.room.leave());
  } finally {
    kit.setLoss(0);
  }
});

test('[OBS-4] a media process that is killed is SERVER, and the same connection goes on', { skip }, async () => {
  const ned = await kit.caller(await kit.newRoom(), 'ned');
  await ned.join();
  await ned.setMicrophone(true);
  const connectionId = await idOf(ned);
  await soon(async () =>
    assert.ok(
      (await kit.api.call('getConnection', { connectionId })).events.some(({ type }) => type === 'ice.connected'),
    ),
  );
  kit.killMediaProcess();
  await hasError(kit, connectionId, 'SERVER', 'NODE_LOST', /rejoin/);
  await soon(async () =>
    assert.equal((await kit.api.call('getConnection', { connectionId })).state, 'CONNECTED', (await ned.log()).join()),
  );
  await ned.page.evaluate(() => window.caller.room.leave());
});
