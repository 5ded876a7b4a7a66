import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MintRtcToken, Room } from '@parley/contract';
import type { Page } from 'playwright-core';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from './browser.ts';
import { openSdk, type SdkKit } from './sdk/kit.ts';

const skip = skipWithoutBrowser();
let kit: SdkKit;
let room: Room;

/** What a page without our SDK does: one offer, one answer, nothing else. */
interface Plain {
  peer: RTCPeerConnection;
  location: string;
}
declare global {
  interface Window {
    plain: Plain;
  }
}

before(async () => {
  if (skip) return;
  kit = await openSdk();
  room = await kit.newRoom();
});
after(async () => {
  if (skip) return;
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

const soon = <T>(check: () => Promise<T>): Promise<T> => eventually(check, { withinMs: 30_000 });

async function mint(identity: string, body: Partial<MintRtcToken> = {}): Promise<string> {
  const fields = { participantIdentity: identity, permissions: { publish: true }, ...body };
  return (await kit.api.call('mintRtcToken', { roomId: room.id, body: fields })).token;
}

/** Opens a page that sends (WHIP) or receives (WHEP) by plain WebRTC; a quiet one has nothing to send yet. */
async function open(way: 'whip' | 'whep', token: string, isQuiet = false): Promise<{ page: Page; status: number }> {
  const page = await kit.blankPage();
  const status = await page.evaluate(
    async ([url, bearer, isSending, quiet]) => {
      const peer = new RTCPeerConnection();
      if (isSending) {
        const stream = await navigator.mediaDevices.getUserMedia({
          // The filters of a microphone cost more than a picture.
          audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
          video: { width: 320, height: 180 },
        });
        for (const track of stream.getTracks())
          peer.addTransceiver(track, { direction: 'sendonly', streams: [stream] });
      } else {
        for (const kind of ['audio', 'video']) peer.addTransceiver(kind, { direction: 'recvonly' });
        peer.ontrack = ({ track }) => {
          const element = document.createElement(track.kind) as HTMLVideoElement;
          Object.assign(element, {
            autoplay: true,
            muted: track.kind === 'video',
            srcObject: new MediaStream([track]),
          });
          document.body.append(element);
        };
      }
      await peer.setLocalDescription();
      if (quiet)
        for (const sender of peer.getSenders()) {
          sender.track?.stop();
          await sender.replaceTrack(null);
        }
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/sdp' };
      const response = await fetch(url, { method: 'POST', headers, body: peer.localDescription?.sdp ?? '' });
      if (response.status !== 201) return response.status;
      await peer.setRemoteDescription({ type: 'answer', sdp: await response.text() });
      window.plain = { peer, location: response.headers.get('location') ?? '' };
      return response.status;
    },
    [`${kit.url}/v1/rooms/${room.id}/${way}`, token, way === 'whip', isQuiet] as const,
  );
  return { page, status };
}

const received = (page: Page) =>
  page.evaluate(async () => {
    const seen = { frames: 0, energy: 0 };
    for (const report of (await window.plain.peer.getStats()).values()) {
      if (report.type !== 'inbound-rtp') continue;
      seen.frames += report.framesDecoded ?? 0;
      seen.energy += report.totalAudioEnergy ?? 0;
    }
    return seen;
  });

const present = async (): Promise<string[]> =>
  (await kit.api.call('listRoomParticipants', { id: room.id })).map(({ identity }) => identity).sort();

test('[RTC-90] [MED-119] a page that speaks plain SDP publishes by WHIP, with RTX, and another watches by WHEP', {
  skip,
}, async () => {
  const sender = await open('whip', await mint('obs'));
  assert.equal(sender.status, 201);
  const watcher = await open('whep', await mint('screen', { permissions: {} }));
  assert.equal(watcher.status, 201);
  const { frames } = await soon(async () => {
    const seen = await received(watcher.page);
    assert.ok(seen.frames > 0 && seen.energy > 0, JSON.stringify(seen));
    return seen;
  });
  await soon(async () => assert.ok((await received(watcher.page)).frames > frames + 10, 'the picture stands'));
  assert.deepEqual(await present(), ['obs', 'screen']);

  const answer = await sender.page.evaluate(() => window.plain.peer.currentRemoteDescription?.sdp ?? '');
  const [, sound = '', picture = ''] = answer.split(/^m=/m);
  assert.match(picture, /^a=rtpmap:\d+ rtx\/90000\r$/m);
  assert.doesNotMatch(sound, /rtx/);

  // To everybody else they are participants like any other.
  const ada = await kit.caller(room, 'ada');
  await ada.join();
  await ada.watches('obs');
  assert.deepEqual(await ada.tiles(), ['obs CAMERA', 'obs MICROPHONE']);

  for (const { page } of [sender, watcher]) {
    const location = await page.evaluate(() => window.plain.location);
    const end = async (token: string) =>
      (await fetch(`${kit.url}${location}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } }))
        .status;
    assert.equal(await end(await mint('somebody-else')), 404);
    assert.equal(await end(await mint(page === sender.page ? 'obs' : 'screen')), 200);
  }
  await soon(async () => assert.deepEqual(await present(), ['ada']));
  await soon(async () => assert.deepEqual(await ada.tiles(), []));
  await ada.page.evaluate(() => window.caller.room.leave());
  // A page that is left open goes on with its camera.
  for (const { page } of [sender, watcher, ada]) await page.close();
});

test('[RTC-91] who watches before anybody publishes gets the picture when it comes, and again from the next', {
  skip,
}, async () => {
  const watcher = await open('whep', await mint('early', { permissions: {} }));
  assert.equal(watcher.status, 201);
  for (const name of ['first', 'second']) {
    const sender = await open('whip', await mint(name));
    const { frames } = await received(watcher.page);
    await soon(async () => assert.ok((await received(watcher.page)).frames > frames + 10, `nothing of the ${name}`));
    // Gone without a word: the node notices, or the next one could not be told from it.
    await kit.api.call('removeParticipant', { id: room.id, identity: name });
    await sender.page.close();
  }
  await kit.api.call('removeParticipant', { id: room.id, identity: 'early' });
  await watcher.page.close();
});

test('[RTC-92] plain WebRTC has the same rules: token, permissions, room, media type and a whole offer', {
  skip,
}, async () => {
  const post = async (path: string, token: string, body: string, type = 'application/sdp') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const response = await fetch(`${kit.url}${path}`, { method: 'POST', headers, body });
    return [response.status, ((await response.json()) as { code: string }).code];
  };
  const whip = `/v1/rooms/${room.id}/whip`;
  const good = await mint('good');
  assert.deepEqual(await post(whip, 'nonsense', 'v=0'), [401, 'SVC_INVALID_TOKEN']);
  assert.deepEqual(await post(whip, good, 'v=0', 'application/json'), [415, 'SVC_UNSUPPORTED_MEDIA_TYPE']);
  assert.deepEqual(await post(whip, good, 'v=0'), [400, 'SVC_BAD_REQUEST']);
  assert.deepEqual(await post(whip, await mint('mute', { permissions: {} }), 'v=0'), [403, 'SVC_PUBLISH_NOT_ALLOWED']);
  assert.deepEqual(
    await post(`/v1/rooms/${room.id}/whep`, await mint('blind', { permissions: { subscribe: false } }), 'v=0'),
    [403, 'SVC_SUBSCRIBE_NOT_ALLOWED'],
  );
  const other = await kit.newRoom();
  assert.deepEqual(await post(`/v1/rooms/${other.id}/whip`, good, 'v=0'), [404, 'SVC_ROOM_NOT_FOUND']);
  assert.deepEqual(await present(), [], 'nobody who was refused is in the room');
});

/** As the rule says it. */
const goneWithin = { withinMs: 15_000, everyMs: 500 };

test('[RTC-93] who closes the connection, or the tab, without DELETE is gone within 15 s', { skip }, async () => {
  const [sender, watcher] = [await open('whip', await mint('closer')), await open('whep', await mint('closed'))];
  await soon(async () => assert.ok((await received(watcher.page)).frames > 10));
  await watcher.page.evaluate(() => window.plain.peer.close());
  await eventually(async () => assert.deepEqual(await present(), ['closer']), goneWithin);
  await sender.page.close();
  await eventually(async () => assert.deepEqual(await present(), []), goneWithin);
  await watcher.page.close();
});

const sentFrames = (page: Page): Promise<number> =>
  page.evaluate(async () =>
    [...(await window.plain.peer.getStats()).values()].reduce((sum, { framesSent = 0 }) => sum + framesSent, 0),
  );

test('[RTC-93] a WHIP publisher whose track is taken away for a while, or comes only later, is still there', {
  skip,
}, async () => {
  const [paused, quiet] = [await open('whip', await mint('paused')), await open('whip', await mint('quiet'), true)];
  await soon(async () => assert.ok((await sentFrames(paused.page)) > 5));
  await paused.page.evaluate(async () => {
    for (const sender of window.plain.peer.getSenders()) {
      sender.track?.stop();
      await sender.replaceTrack(null);
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  assert.deepEqual(await present(), ['paused', 'quiet']);
  for (const { page } of [paused, quiet]) await page.close();
  for (const identity of ['paused', 'quiet']) await kit.api.call('removeParticipant', { id: room.id, identity });
});

test('[RTC-96] the location takes candidates that come later; another ICE session, another identity and another type are refused', {
  skip,
}, async () => {
  const token = await mint('trickles');
  const { page } = await open('whip', token);
  const { location, patch, ufrag } = await page.evaluate(
    async ([url, bearer]) => {
      const sdp = window.plain.peer.localDescription?.sdp ?? '';
      const authorization = `Bearer ${bearer}`;
      const type = { authorization, 'content-type': 'application/sdp' };
      const again = await fetch(url, { method: 'POST', headers: type, body: sdp });
      return {
        location: again.headers.get('location') ?? '',
        patch: again.headers.get('accept-patch'),
        ufrag: /a=ice-ufrag:(.*)/.exec(sdp)?.[1] ?? '',
      };
    },
    [`${kit.url}/v1/rooms/${room.id}/whip`, token] as const,
  );
  assert.equal(patch, 'application/trickle-ice-sdpfrag');

  const ask = (method: string, type: string, body: string, bearer = token) =>
    fetch(`${kit.url}${location}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': type },
      body,
    });
  const fragment = (of: string) => `a=ice-ufrag:${of.trim()}\r\na=ice-pwd:${'p'.repeat(24)}\r\n`;
  const trickle = 'application/trickle-ice-sdpfrag';
  assert.equal((await ask('PATCH', trickle, fragment(ufrag))).status, 204);
  assert.equal((await ask('PATCH', trickle, fragment('other'))).status, 422);
  assert.equal((await ask('PATCH', trickle, fragment(ufrag), await mint('stranger'))).status, 404);
  const unsupported = (await (await ask('PATCH', 'application/json', '{}')).json()) as { message: string };
  assert.equal(unsupported.message, `Send the body as ${trickle}.`);
  const refused = await ask('PATCH', trickle, fragment(ufrag), 'nonsense');
  assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer']);
  // The second connection is never made: the node would wait for it longer than for one that ends.
  assert.equal((await ask('DELETE', trickle, '')).status, 200);
  await page.close();
  await soon(async () => assert.deepEqual(await present(), []));
});
