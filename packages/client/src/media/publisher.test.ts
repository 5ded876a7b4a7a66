import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Description } from '@parley/media-description';
import { ConnectionError, PermissionError } from '../errors.ts';
import type { EncodingOptions } from './encodings.ts';
import type { LocalTrack } from './local-track.ts';
import { createPublisher } from './publisher.ts';

/** One audio line, as a browser would write it. */
const sdp = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0',
  'a=ice-ufrag:u',
  'a=ice-pwd:ppppppppppppppppppppppp',
  'a=fingerprint:sha-256 00:11',
  'a=setup:actpass',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'c=IN IP4 0.0.0.0',
  'a=mid:0',
  'a=sendonly',
  'a=rtcp-mux',
  'a=rtpmap:111 opus/48000/2',
  '',
].join('\r\n');

const answered: Description = {
  ice: { ufrag: 'u', pwd: 'p' },
  dtls: { role: 'passive', fingerprint: 'sha-256 00:11' },
  media: [{ mid: '0', kind: 'audio', direction: 'recvonly', codecs: [{ pt: 111, name: 'opus' }] }],
};

/** What the publisher uses of the browser: it takes every description, and keeps the last answer. */
function rig(
  unpublish: () => Promise<{ description: Description }>,
  whenConnected: () => Promise<void>,
  restart = (): Promise<{ description: Description | null }> => assert.fail('nothing is restarted here'),
) {
  const states: string[] = [];
  const asked: string[] = [];
  const offers: unknown[] = [];
  let remoteSdp = '';
  let isMutedByServer = false;
  const newPeer = () => {
    const line = { mid: '0', direction: 'sendonly', sender: { async replaceTrack() {} }, stop() {} };
    return {
      localDescription: { sdp },
      addTransceiver: () => line,
      getTransceivers: () => [line],
      async setLocalDescription() {},
      async setRemoteDescription(description: { sdp: string }) {
        remoteSdp = description.sdp;
      },
      close() {},
    } as unknown as RTCPeerConnection;
  };
  const publisher = createPublisher({
    newPeerConnection: newPeer,
    async publish({ tracks: [offered] }) {
      asked.push('publish');
      if (offered?.cid === 'refused') throw new Error('no such track');
      offers.push([offered?.name, offered?.metadata]);
      return isMutedByServer ? publishedMuted : published;
    },
    unpublish() {
      asked.push('unpublish');
      return unpublish();
    },
    restart,
    whenConnected,
    onState: (state) => states.push(state),
  });
  const media = { id: 'c1', kind: 'audio', readyState: 'live', getSettings: () => ({}) };
  const told: boolean[] = [];
  const track = {
    mediaStreamTrack: media,
    source: 'MICROPHONE',
    kind: 'audio',
    options: { music: true },
    id: null,
    mutedByServer: (isMuted: boolean) => told.push(isMuted),
  } as unknown as LocalTrack;
  const muteByServer = (isMuted: boolean) => {
    isMutedByServer = isMuted;
  };
  return { publisher, track, told, muteByServer, asked, offers, states, remoteSdp: () => remoteSdp };
}

const published = { tracks: [{ cid: 'c1', trackId: 'trk_1' }], description: answered };
const publishedMuted = { ...published, tracks: [{ cid: 'c1', trackId: 'trk_2', mutedByServer: true }] };
const nothing = async () => ({ description: { media: [] } });

test('[SDK-29] [SDK-74] what is unpublished while the connection is lost is sent with the next one', async () => {
  let isLost = true;
  const { publisher, track, asked, remoteSdp } = rig(
    async () => {
      if (isLost) throw new ConnectionError('network');
      // It had it already: there is nothing of it to answer.
      return { description: { media: [] } };
    },
    async () => {
      isLost = false;
    },
  );
  await publisher.publish([track]);
  assert.match(remoteSdp(), /a=recvonly/);
  assert.match(remoteSdp(), /a=fmtp:111 .*stereo=1/, '[SDK-74] as it was asked for');
  await publisher.unpublish(track);
  assert.deepEqual(asked, ['publish', 'unpublish', 'unpublish']);
  assert.match(remoteSdp(), /a=inactive/);
});

test('[SDK-29] what is unpublished is gone with the session, or with the call', async () => {
  for (const end of ['reset', 'close'] as const) {
    const { publisher, track, asked } = rig(
      async () => {
        throw new ConnectionError('network');
      },
      async () => {
        if (end === 'reset') return publisher.reset();
        publisher.close();
        throw new ConnectionError('client');
      },
    );
    await publisher.publish([track]);
    await publisher.unpublish(track);
    assert.deepEqual(asked, ['publish', 'unpublish']);
  }
});

test('[SDK-29] what was published before a restart and a publication that both failed is published in the next session', async () => {
  const lost = async (): Promise<never> => {
    throw new ConnectionError('client');
  };
  const { publisher, track, asked } = rig(nothing, lost, lost);
  await publisher.publish([track]);
  await assert.rejects(publisher.restart());
  const refused = Object.assign({}, track, { mediaStreamTrack: { ...track.mediaStreamTrack, id: 'refused' } });
  await assert.rejects(publisher.publish([refused]), /no such track/);
  assert.deepEqual(publisher.tracks, [track]);
  await publisher.reset();
  assert.deepEqual([publisher.tracks, asked], [[track], ['publish', 'publish', 'publish']]);
});

test('[SDK-91] name and metadata go out with the track, when it has them', async () => {
  const { publisher, track, offers } = rig(nothing, async () => {});
  await publisher.publish([track]);
  await publisher.unpublish(track);
  await publisher.publish([Object.assign(track, { name: 'desk', metadata: '{"slide":3}' })]);
  assert.deepEqual(offers, [
    [undefined, undefined],
    ['desk', '{"slide":3}'],
  ]);
});

test('[SDK-51] the answer to a publish says whether the server mutes that track still; another session is free', async () => {
  const { publisher, track, told, muteByServer } = rig(nothing, async () => {});
  await publisher.publish([track]);
  await publisher.unpublish(track);
  muteByServer(true);
  await publisher.publish([track]);
  muteByServer(false);
  await publisher.reset();
  assert.deepEqual(told, [false, true, false]);
});

test('[SDK-21] a transport that may not be restarted, because publishing was forbidden meanwhile, is over and not broken', async () => {
  const refused = new PermissionError({ code: 'SVC_FORBIDDEN', message: 'This participant may not publish.' });
  const { publisher, track, states } = rig(
    nothing,
    async () => {},
    () => Promise.reject(refused),
  );
  await publisher.publish([track]);
  await publisher.restart();
  assert.deepEqual([publisher.peer, publisher.tracks, track.id, states], [null, [], null, ['closed']]);
});

/** A camera, and what its line was told; `isOld`: of a browser that ignores layers in one stream and refuses parameters. */
async function publishCamera(options: EncodingOptions, isOld = false) {
  const offered: { tracks: unknown }[] = [];
  const lines: { encodings: RTCRtpEncodingParameters[]; isStopped: boolean; parameters: unknown }[] = [];
  const newLine = (_media: unknown, { sendEncodings = [] }: RTCRtpTransceiverInit) => {
    const encodings = isOld ? sendEncodings.map((one) => ({ ...one, scalabilityMode: undefined })) : sendEncodings;
    const line = { mid: '0', encodings, isStopped: false, parameters: undefined as unknown };
    lines.push(line);
    const sender = {
      getParameters: () => ({ encodings }),
      async setParameters(parameters: unknown) {
        if (isOld) throw new TypeError('Unknown parameter.');
        line.parameters = parameters;
      },
    };
    return Object.assign(line, { sender, stop: () => (line.isStopped = true) });
  };
  const peer = {
    localDescription: { sdp },
    addTransceiver: newLine,
    async setLocalDescription() {},
    async setRemoteDescription() {},
    close() {},
  };
  const publisher = createPublisher({
    newPeerConnection: () => peer as unknown as RTCPeerConnection,
    async publish(offer) {
      offered.push(offer);
      return published;
    },
    unpublish: nothing,
    restart: () => assert.fail('nothing is restarted here'),
    whenConnected: async () => {},
    onState() {},
  });
  const mediaStreamTrack = {
    id: 'c1',
    kind: 'video',
    readyState: 'live',
    getSettings: () => ({ width: 1280, height: 720 }),
  };
  const track = { mediaStreamTrack, source: 'CAMERA', kind: 'video', options, id: null, mutedByServer() {} };
  await publisher.publish([track as unknown as LocalTrack]);
  return { publisher, offered, lines };
}

test('[SDK-111] what is kept when it gets too slow is set on the sender', async () => {
  const { lines } = await publishCamera({ degradationPreference: 'maintain-resolution' });
  assert.deepEqual(lines[0]?.parameters, {
    encodings: lines[0]?.encodings,
    degradationPreference: 'maintain-resolution',
  });
  const old = await publishCamera({ degradationPreference: 'maintain-resolution' }, true);
  assert.equal(old.offered.length, 1, 'a browser that refuses it publishes all the same');
});

test('[SDK-110] a browser that ignores layers in one stream sends VP8 in several', async () => {
  const { lines } = await publishCamera({ codec: 'av1' }, true);
  assert.deepEqual(
    lines.map(({ encodings, isStopped }) => [encodings.length, isStopped]),
    [
      [1, true],
      [3, false],
    ],
  );
});

test('[SDK-112] a track says that it could be sent in VP8 too, and is when the node asks for it', async () => {
  const { publisher, offered, lines } = await publishCamera({ codec: 'vp9' });
  const ask = () => publisher.setLayers('trk_1', [], true);
  await Promise.all([ask(), ask()]);
  const said = offered.map(({ tracks }) => JSON.parse(JSON.stringify(tracks))[0]);
  assert.deepEqual(
    said.map(({ cid, backupCodec, backupOf, layers }) => [cid, backupCodec, backupOf, layers.length]),
    [
      ['c1', 'VP8', undefined, 3],
      ['c1~', undefined, 'trk_1', 3],
    ],
  );
  assert.equal(publisher.tracks.length, 1);
  await publisher.setLayers('trk_1', [{ rid: 'h', enabled: true }], true);
  assert.deepEqual(
    lines[1]?.encodings.map(({ active }) => active),
    [false, true, false],
  );
  for (const options of [{}, { codec: 'vp9', backupCodec: false }] as const)
    assert.ok(!JSON.stringify((await publishCamera(options)).offered).includes('backupCodec'));
});
