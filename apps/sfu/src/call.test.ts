import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { skipWithoutBrowser } from '../../../e2e/browser.ts';
import { mediaMs } from '../../server/testkit/kit/eventually.ts';
import { type Caller, type CallKit, SIMULCAST, startCall } from '../testkit/call.ts';
import { CommandRefused } from '../testkit/control-client.ts';
import { eventually } from '../testkit/node.ts';
import { everything } from '../testkit/permissions.ts';

const skip = skipWithoutBrowser();
let call: CallKit;
let alice: Caller;
let bob: Caller;

before(async () => {
  if (skip) return;
  call = await startCall();
  alice = await call.join('alice');
  bob = await call.join('bob');
});
after(async () => {
  if (!skip) await call.close();
});

const publish = ({ page }: Caller, kind: 'audio' | 'video', encodings: RTCRtpEncodingParameters[] = []) =>
  page.evaluate(([kind, encodings]) => window.client.publish(kind, encodings), [kind, encodings] as const);

const framesOf = async (caller: Caller) => (await caller.inbound('video'))['framesDecoded'] ?? 0;

async function framesGrow(caller: Caller): Promise<void> {
  const first = await framesOf(caller);
  await eventually(async () => (await framesOf(caller)) > first + 5, `${caller.id} decodes no more frames`, mediaMs);
}

test('[MED-30] two pages see and hear each other', { skip }, async () => {
  for (const caller of [alice, bob]) {
    await publish(caller, 'video', SIMULCAST);
    await publish(caller, 'audio');
  }
  for (const caller of [alice, bob]) {
    await framesGrow(caller);
    await eventually(
      async () => ((await caller.inbound('audio'))['totalAudioEnergy'] ?? 0) > 0,
      `${caller.id} hears nothing`,
      mediaMs,
    );
  }
  await eventually(
    () =>
      call.control.events.some(({ type, data }) => type === 'speakers' && data.speakers.some(({ active }) => active)),
    'nobody is said to speak',
    120_000,
  );
});

test('[MED-91] the node counts what it carries', { skip }, async () => {
  const counted = async (series: string) => {
    const text = await (await fetch(`${call.node.node.internalUrl}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`parley_media_${series}`))
        ?.split(' ')[1] ?? 0,
    );
  };
  for (const series of [
    'rooms',
    'packets_total{process="0",direction="in"}',
    'packets_total{process="0",direction="out"}',
    'key_frame_requests_total{process="0",direction="out"}',
    'estimate_bytes_per_second',
  ])
    await eventually(async () => (await counted(series)) > 0, `${series} stays at zero`, mediaMs);
  const layers = ['0', '1', '2'].map((layer) => `video_subscriptions{process="0",layer="${layer}"}`);
  await eventually(
    async () => (await Promise.all(layers.map(counted))).reduce((sum, count) => sum + count, 0) === 2,
    'not both videos are counted',
    mediaMs,
  );
});

test('[MED-31] the layer follows the subscriber’s setting down and up without losing the picture', {
  skip,
}, async () => {
  const trackId = await trackOf('alice', 'VIDEO');
  // A busy publisher makes all its layers smaller, so what is compared is one with another.
  const width = async () => (await bob.inbound('video'))['frameWidth'] ?? 0;
  await bob.command('track.settings', { updates: [{ trackId, maxLayer: 0 }] });
  await eventually(async () => (await width()) > 0 && (await width()) <= 320, 'the lowest layer did not come', mediaMs);
  const lowest = await width();
  await bob.command('track.settings', { updates: [{ trackId, maxLayer: 2 }] });
  await eventually(async () => (await width()) >= lowest * 2, 'no higher layer came back', mediaMs);
  await framesGrow(bob);
});

test('[MED-52] fewer frames come where fewer are wished, and all of them again', { skip }, async () => {
  const trackId = await trackOf('alice', 'VIDEO');
  const rate = async () => (await bob.inbound('video'))['framesPerSecond'] ?? 0;
  const before = await bob.inbound('video');
  await bob.command('track.settings', { updates: [{ trackId, fps: 8 }] });
  await eventually(async () => (await rate()) > 0 && (await rate()) <= 9, 'the frames do not become fewer', mediaMs);
  await framesGrow(bob);
  await bob.command('track.settings', { updates: [{ trackId, fps: 60 }] });
  await eventually(async () => (await rate()) > 9, 'the frames do not come back', mediaMs);
  const after = await bob.inbound('video');
  const since = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
  // Left out of the numbers too: the browser would ask for each packet of a frame that it misses.
  assert.ok(since('nackCount') < since('packetsReceived') / 4, `${since('nackCount')} packets were asked for again`);
});

test('[MED-32] layers nobody takes are turned off at the publisher, and on again', { skip }, async () => {
  const trackId = await trackOf('alice', 'VIDEO');
  await bob.command('track.settings', { updates: [{ trackId, enabled: false }] });
  const latest = () =>
    alice.events.findLast(({ type, data }) => type === 'publish.quality' && data.trackId === trackId);
  const enabled = () => {
    const frame = latest();
    return frame?.type === 'publish.quality'
      ? frame.data.layers.filter(({ enabled }) => enabled).map(({ rid }) => rid)
      : undefined;
  };
  await eventually(() => enabled()?.length === 0, 'the publisher was not notified that no one watches', mediaMs);
  await bob.command('track.settings', { updates: [{ trackId, enabled: true }] });
  await eventually(() => (enabled()?.length ?? 0) > 0, 'the publisher was not notified that someone watches', mediaMs);
  await framesGrow(bob);
});

test('[MED-33] data goes both ways, to all or to some, reliable and lossy', { skip }, async () => {
  const carol = await call.join('carol');
  for (const caller of [alice, bob, carol])
    await eventually(
      () => caller.page.evaluate(() => window.client.isDataOpen('reliable') && window.client.isDataOpen('lossy')),
      `${caller.id} has no data channel`,
      mediaMs,
    );
  await alice.page.evaluate(() => window.client.send('reliable', { topic: 'chat', text: true }, 'to all'));
  const sendLossy = () => bob.page.evaluate(() => window.client.send('lossy', { to: ['alice'] }, 'to alice'));
  await sendLossy();
  await call.control.command('data.send', { room: call.room, payload: 'from the server', reliable: true });
  const heard = (caller: Caller) =>
    caller.page.evaluate(() =>
      window.client.received.map(({ head, text, channel }) => `${head.from} ${head.topic ?? '-'} ${channel} ${text}`),
    );
  const said = await eventually(
    async () => {
      // A busy machine loses what may be lost.
      if (!(await heard(alice)).some((text) => text.includes('lossy'))) await sendLossy();
      const all = await Promise.all([alice, bob, carol].map(heard));
      return all.every((texts) => new Set(texts).size === 2) ? all : null;
    },
    'messages are missing',
    mediaMs,
  );
  assert.deepEqual([...new Set(said[0])].sort(), ['bob - lossy to alice', 'null - reliable from the server']);
  assert.deepEqual((await heard(bob)).sort(), ['alice chat reliable to all', 'null - reliable from the server']);
  assert.deepEqual((await heard(carol)).sort(), ['alice chat reliable to all', 'null - reliable from the server']);
  await carol.command('participant.remove', { reason: 'CLIENT_INITIATED' });
});

test('[MED-22] a viewer sees but cannot publish or use data, and hears of neither', { skip }, async () => {
  const viewer = await call.join('viewer', {
    ...everything,
    publish: false,
    publishAudio: true,
    publishVideo: true,
    publishData: false,
  });
  await framesGrow(viewer);
  await assert.rejects(publish(viewer, 'video'), /FORBIDDEN/);
  await assert.rejects(
    viewer.command('data.send', { payload: 'x', reliable: true }),
    (error) => error instanceof CommandRefused && error.code === 'FORBIDDEN',
  );
  await viewer.page.evaluate(() => window.client.send('reliable', {}, 'smuggled'));
  await alice.page.evaluate(() => window.client.send('reliable', { topic: 'after' }, 'not for viewers'));
  const topics = () => bob.page.evaluate(() => window.client.received.map(({ head, text }) => head.topic ?? text));
  await eventually(async () => (await topics()).includes('after'), 'bob did not hear alice', mediaMs);
  assert.ok(!(await topics()).includes('smuggled'));
  assert.deepEqual(await viewer.page.evaluate(() => window.client.received.length), 0);

  await viewer.command('participant.update', { permissions: { ...everything, subscribe: false } });
  await eventually(
    async () => {
      const before = await framesOf(viewer);
      await framesGrow(bob);
      return (await framesOf(viewer)) === before;
    },
    'the viewer still gets pictures',
    mediaMs,
  );
  await viewer.command('participant.remove', { reason: 'PARTICIPANT_REMOVED' });
});

test('[MED-34] muting by the server stops a track and the next of its source, unpublishing ends it, and its line serves the next', {
  skip,
}, async () => {
  const trackId = await trackOf('alice', 'VIDEO');
  await alice.command('track.mute', { trackId, muted: true, by: 'SERVER' });
  await eventually(
    () =>
      bob.events.some(
        ({ type, data }) => type === 'stream.state' && data.trackId === trackId && data.reason === 'MUTED',
      ),
    'bob was not notified',
    mediaMs,
  );
  await alice.page.evaluate((id) => window.client.unpublish(id), trackId);
  await eventually(
    () => call.control.events.some(({ type, data }) => type === 'track.unpublished' && data.trackId === trackId),
    'no participant was notified',
    mediaMs,
  );
  await publish(alice, 'video');
  const next = await trackOf('alice', 'VIDEO');
  await eventually(
    () =>
      call.control.events.some(
        ({ type, data }) => type === 'track.published' && data.track.id === next && data.track.muted,
      ),
    'the next one is not muted',
    mediaMs,
  );
  await alice.command('track.mute', { trackId: next, muted: false, by: 'SERVER' });
  await framesGrow(bob);
});

test('[MED-35] either side can rebuild its transport, and the call goes on', { skip }, async () => {
  await alice.page.evaluate(() => window.client.restartPub());
  await eventually(
    () =>
      alice.events.filter(
        ({ type, data }) => type === 'transport.state' && data.pc === 'pub' && data.state === 'CONNECTED',
      ).length >= 2,
    'the new transport did not connect',
    mediaMs,
  );
  await framesGrow(bob);
  await bob.command('ice.restart', { pc: 'sub' });
  await eventually(
    () =>
      bob.events.filter(
        ({ type, data }) => type === 'transport.state' && data.pc === 'sub' && data.state === 'CONNECTED',
      ).length >= 2,
    'the new transport did not connect',
    mediaMs,
  );
  await framesGrow(bob);
});

test('[MED-38] every codec we take goes through', { skip, timeout: 120_000 }, async () => {
  for (const codec of ['VP9', 'H264', 'AV1']) {
    const trackId = await alice.page.evaluate((codec) => window.client.publish('video', [], codec), codec);
    const shown = () => bob.page.evaluate((id) => window.client.widthOf(id), trackId);
    await eventually(async () => (await shown()) > 0, `${codec} shows no picture`, mediaMs);
    await alice.page.evaluate((id) => window.client.unpublish(id), trackId);
  }
});

test('[MED-31] H264 comes in layers too, and the subscriber’s setting is followed down and up', { skip }, async () => {
  // Small ones: a machine without hardware for it encodes them beside all the rest.
  const encodings: RTCRtpEncodingParameters[] = [
    { rid: 'q', scaleResolutionDownBy: 8, maxBitrate: 100_000 },
    { rid: 'h', scaleResolutionDownBy: 4, maxBitrate: 300_000 },
  ];
  const trackId = await alice.page.evaluate((layers) => window.client.publish('video', layers, 'H264'), encodings);
  const width = () => bob.page.evaluate((id) => window.client.widthOf(id), trackId);
  const take = (maxLayer: number) => bob.command('track.settings', { updates: [{ trackId, maxLayer }] });
  await eventually(async () => (await width()) > 0, 'no picture came', mediaMs);
  await take(0);
  await eventually(async () => (await width()) <= 160, 'the lower layer did not come', mediaMs);
  const lower = await width();
  await take(1);
  await eventually(async () => (await width()) >= lower * 2, 'the upper layer did not come', mediaMs);
  await take(0);
  await eventually(async () => (await width()) <= lower, 'the lower layer did not come back', mediaMs);
  await alice.page.evaluate((id) => window.client.unpublish(id), trackId);
});

test('[MED-38] RED around Opus goes through to who takes it', { skip }, async () => {
  const carol = await call.join('carol', everything, { autoSubscribe: false });
  const trackId = await alice.page.evaluate(() => window.client.publish('audio', [], 'red'));
  await carol.command('subscribe', { trackIds: [trackId] });
  await eventually(
    async () => ((await carol.inbound('audio'))['totalAudioEnergy'] ?? 0) > 0,
    'carol hears nothing',
    mediaMs,
  );
});

test('[MED-18] a browser with transport-wide feedback finds its rate by itself, one without gets it by REMB', {
  skip,
}, async () => {
  const dora = await call.join('dora', everything, { lacks: ['transportCc'] });
  await publish(dora, 'video', SIMULCAST);
  const rembOf = async (id: string) => {
    const { participants } = await call.control.command('stats', { room: call.room, participant: id });
    return participants[0]?.pub?.availableBps;
  };
  const believedBy = async ({ page }: Caller) => {
    const pair = await page.evaluate(() => window.client.pair('pub'));
    return Number(pair?.['availableOutgoingBitrate'] ?? 0);
  };
  const follows = async () => {
    // It changes while the browser is asked.
    const sent = [(await rembOf('dora')) ?? 0];
    const believed = await believedBy(dora);
    sent.push((await rembOf('dora')) ?? 0);
    return believed > 0 && believed > Math.min(...sent) * 0.9 && believed < Math.max(...sent) * 1.1;
  };
  // What it lost on a busy machine it gets back by 8 % a second.
  await eventually(follows, 'the browser does not follow REMB', 120_000);
  assert.equal(await rembOf('alice'), null);
});

async function trackOf(identity: string, kind: 'AUDIO' | 'VIDEO'): Promise<string> {
  const { rooms } = await call.control.command('snapshot', { room: call.room });
  const tracks = rooms[0]?.participants.find((participant) => participant.identity === identity)?.tracks;
  return tracks?.find((track) => track.kind === kind)?.id ?? '';
}
