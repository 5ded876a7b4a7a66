import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { LiveStream, SignalingClientFrames, StreamCredentials } from '@parley/contract';
import type { Page } from 'playwright-core';
import { joinRoom, type SignalClient } from '../../apps/server/testkit/clients/signal-client.ts';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { endPeers, RtpPeer, Vp8Source } from '../../apps/sfu/testkit/rtp-peer.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { openSdk, type SdkKit } from './kit.ts';
import type { Attendee } from './page.ts';

const skip = skipWithoutBrowser();
const viewers = Array.from({ length: 5 }, (_, index) => `viewer-${index}`);
let kit: SdkKit;
let stream: LiveStream;
let host: Page;
let audience: Page;
/** Peers without a browser keep the process alive until they are closed. */
const peers: RtpPeer[] = [];

declare global {
  interface Window {
    attendees: Map<string, Attendee>;
    streamCredentials(identity: string): Promise<StreamCredentials>;
  }
}

before(async () => {
  if (skip) return;
  kit = await openSdk();
  stream = await kit.api.call('createLiveStream', { body: { title: 'Launch', hostIdentity: 'ada' } });
  [host, audience] = [await newSide(mintHost), await newSide(mintViewer)];
});
after(async () => {
  if (skip) return;
  for (const peer of peers) peer.close();
  endPeers();
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

function newPeer(name: string): RtpPeer {
  const peer = new RtpPeer(name);
  peers.push(peer);
  return peer;
}

const soon = <T>(check: () => Promise<T>): Promise<T> => eventually(check, { withinMs: 60_000 });
const mintHost = (identity: string) => kit.api.call('registerHost', { streamId: stream.id, body: { identity } });
const mintViewer = (identity: string) => kit.api.call('createViewerToken', { streamId: stream.id, body: { identity } });

/** A page whose backend gives such credentials. */
async function newSide(mint: (identity: string) => Promise<StreamCredentials>): Promise<Page> {
  const page = await kit.page();
  await page.exposeFunction('streamCredentials', mint);
  await page.evaluate(() => {
    window.attendees = new Map();
  });
  return page;
}

const attend = (page: Page, identities: readonly string[]): Promise<void> =>
  page.evaluate(
    async ([url, names]) => {
      const join = async (identity: string): Promise<void> => {
        const credentials = () => window.streamCredentials(identity);
        const attendee = new window.sdk.Attendee({ url, credentials });
        window.attendees.set(identity, attendee);
        await attendee.join();
      };
      await Promise.all(names.map(join));
    },
    [kit.url, identities] as const,
  );

const framesOfAll = (): Promise<number[]> =>
  audience.evaluate(() => Promise.all([...window.attendees.values()].map((one) => one.framesDecoded())));

test('[LIVE-9] a host publishes, and several viewers see it and chat', { skip }, async () => {
  await attend(host, ['ada']);
  await kit.api.call('startLiveStream', { streamId: stream.id });
  await host.evaluate(async () => {
    const ada = window.attendees.get('ada')?.stream;
    const { video } = window.sdk.createTestTracks({ label: 'live', width: 320, height: 180, frameRate: 10 });
    await ada?.room.self.publish(video, { source: 'CAMERA' });
  });
  await attend(audience, viewers);
  const before = await soon(async () => {
    const frames = await framesOfAll();
    assert.equal(frames.filter((count) => count > 0).length, viewers.length, `${frames}`);
    return frames;
  });
  await soon(async () => {
    const frames = await framesOfAll();
    assert.ok(
      frames.every((count, index) => count > (before[index] ?? 0) + 5),
      `${before} then ${frames}`,
    );
  });
  await soon(async () => {
    const { viewerCount } = await kit.api.call('getLiveStream', { streamId: stream.id });
    assert.equal(viewerCount, viewers.length);
  });

  await host.evaluate(() => window.attendees.get('ada')?.stream.chat.send('welcome'));
  await audience.evaluate(() =>
    Promise.all([...window.attendees].map(([identity, { stream }]) => stream.chat.send(`hello from ${identity}`))),
  );
  const said = ['ada: welcome', ...viewers.map((identity) => `${identity}: hello from ${identity}`)].sort();
  await soon(async () => {
    const heard = await audience.evaluate(() => [...window.attendees.values()].map((one) => one.heard));
    for (const lines of heard) assert.deepEqual(lines.toSorted(), said);
    assert.deepEqual((await host.evaluate(() => window.attendees.get('ada')?.heard ?? [])).sort(), said);
  });
  const roles = await audience.evaluate(() => [...window.attendees.values()].map(({ stream }) => stream.role));
  assert.deepEqual(new Set(roles), new Set(['VIEWER']));
});

/** What a viewer without our SDK may send, one of each frame there is; a new row of the table does not compile without. */
function attempts(
  peer: RtpPeer,
  hostTrack: string,
): Record<Exclude<keyof SignalingClientFrames, 'leave'>, Record<string, unknown>> {
  const description = peer.offer('smuggled', 4711);
  const track = { cid: 'smuggled', kind: 'VIDEO', source: 'CAMERA' };
  return {
    join: { connectionId: 'again', permissions: { publish: true } },
    publish: { tracks: [track], description },
    unpublish: { trackIds: [hostTrack] },
    'sub.answer': { revision: 99, description },
    ice: { pc: 'pub', candidates: ['udp 1 127.0.0.1 9 host'] },
    'ice.restart': { pc: 'pub', description },
    'track.mute': { trackId: hostTrack, muted: true },
    subscribe: { identities: ['ada'] },
    unsubscribe: { trackIds: ['none'] },
    'track.settings': { updates: [{ trackId: hostTrack, enabled: true, permissions: { publish: true } }] },
    data: { payload: 'smuggled', reliable: true },
    'rpc.request': { to: 'ada', method: 'smuggle', payload: 'x' },
    'rpc.response': { requestId: 'made-up', payload: 'x' },
    'participant.update': { metadata: 'smuggled' },
    stats: { report: { smuggled: true } },
  };
}

test('[LIVE-5] a viewer cannot publish by any frame it sends', { skip }, async () => {
  const { rtc } = await mintViewer('mallory');
  const mallory = await joinRoom(kit.url, rtc.token);
  const hostTrack = mallory.others.find(({ identity }) => identity === 'ada')?.tracks[0]?.id ?? '';
  assert.ok(hostTrack, 'the viewer is shown what it may take');
  const watching = await watch(mallory);
  const own = newPeer('pub');
  const outcome: Record<string, unknown> = {};
  for (const [type, fields] of Object.entries(attempts(own, hostTrack))) {
    if (type === 'stats') mallory.send({ type, ...fields });
    else outcome[type] = (await mallory.ask({ type, ...fields }))['svcCode'] ?? 'ok';
  }
  const empty = { tracks: [], description: newPeer('empty').offer('empty', 4712) };
  outcome['empty publish'] = (await mallory.ask({ type: 'publish', ...empty }))['svcCode'] ?? 'ok';
  assert.deepEqual(outcome, {
    join: 'SVC_BAD_REQUEST',
    publish: 'SVC_PUBLISH_NOT_ALLOWED',
    'empty publish': 'SVC_PUBLISH_NOT_ALLOWED',
    'ice.restart': 'SVC_FORBIDDEN',
    'sub.answer': 'SVC_BAD_REQUEST',
    'track.mute': 'SVC_TRACK_NOT_FOUND',
    data: 'SVC_DATA_NOT_ALLOWED',
    'rpc.request': 'SVC_DATA_NOT_ALLOWED',
    'rpc.response': 'SVC_DATA_NOT_ALLOWED',
    // Of its own view only, or without effect: what the others see is looked at below.
    unpublish: 'ok',
    ice: 'ok',
    subscribe: 'ok',
    unsubscribe: 'ok',
    'track.settings': 'ok',
    'participant.update': 'SVC_METADATA_NOT_ALLOWED',
  });

  // Not by packets either: the transport on which it receives takes no media, whatever its SSRC.
  const before = watching.peer.received;
  const sources = [4711, 12345].map((ssrc) => new Vp8Source({ ssrc, bytes: 200, packetsPerSecond: 200 }));
  for (const source of sources) source.start((packet) => watching.peer.send(packet));
  await eventually(() => watching.peer.received > before + 30, { withinMs: 60_000 });
  for (const source of sources) source.stop();

  const everybody = await kit.api.call('listRoomParticipants', { id: stream.roomId });
  const publishing = everybody.filter(({ tracks }) => tracks.length > 0);
  assert.deepEqual(
    publishing.map(({ identity, tracks }) => [identity, tracks.map(({ muted }) => muted)]),
    [['ada', [false]]],
  );
  const logs = await audience.evaluate(() => [...window.attendees.values()].map(({ log }) => log));
  for (const log of [...logs, await host.evaluate(() => window.attendees.get('ada')?.log ?? [])])
    assert.deepEqual(log, ['idle → connecting', 'connecting → connected'], 'nobody got anything of it');
});

/** Takes the media as any peer would. */
async function watch(client: SignalClient): Promise<{ peer: RtpPeer }> {
  const peer = newPeer('sub');
  const offer = await client.take('sub.offer');
  const description = peer.answer(offer['description'] as Parameters<RtpPeer['answer']>[0]);
  await client.ask({ type: 'sub.answer', revision: offer['revision'], description });
  await eventually(() => peer.received > 0, { withinMs: 60_000 });
  return { peer };
}

test('[LIVE-3] the end reaches everybody, with its reason', { skip }, async (context) => {
  const raw = await joinRoom(kit.url, (await mintViewer('raw')).rtc.token);
  const endedAt = Date.now();
  await kit.api.call('endLiveStream', { streamId: stream.id });
  const ends = await soon(async () => {
    const seen = await audience.evaluate(() =>
      [...window.attendees.values()].map(({ log, endedAt }) => ({ last: log.at(-1), endedAt })),
    );
    for (const { last } of seen) assert.equal(last, 'connected → disconnected (room_closed)');
    return seen.map((one) => one.endedAt - endedAt);
  });
  context.diagnostic(`from the call to the last of ${ends.length} viewers: ${Math.max(...ends)} ms`);
  await soon(async () =>
    assert.equal(
      await host.evaluate(() => window.attendees.get('ada')?.log.at(-1)),
      'connected → disconnected (room_closed)',
    ),
  );
  assert.equal((await raw.take('room.closed'))['reason'], 'STREAM_ENDED');
  assert.deepEqual(await raw.whenClosed(), { code: 4410, reason: 'STREAM_ENDED' });
  const refused = await audience.evaluate(() =>
    window.attendees
      .get('viewer-0')
      ?.stream.chat.send('too late')
      .catch((error: { code: string }) => error.code),
  );
  assert.equal(refused, 'SVC_CONVERSATION_ARCHIVED');
});
