import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PublishOptions } from '@parley/client';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { type CallPage, openSdk, type SdkKit } from './kit.ts';

const skip = skipWithoutBrowser();
let kit: SdkKit;
let ada: CallPage;
let bob: CallPage;
let room: Awaited<ReturnType<SdkKit['newRoom']>>;

before(async () => {
  if (skip) return;
  kit = await openSdk();
  room = await kit.newRoom();
  ada = await kit.caller(room, 'ada');
  bob = await kit.caller(room, 'bob');
  await ada.page.evaluate(() => {
    const native = RTCPeerConnection.prototype.setRemoteDescription;
    Object.assign(RTCPeerConnection.prototype, {
      setRemoteDescription(description: RTCSessionDescriptionInit) {
        if (description.type === 'answer') document.body.dataset['answer'] = description.sdp ?? '';
        return Reflect.apply(native, this, [description]);
      },
    });
  });
  await ada.join();
  await bob.join();
});
after(async () => {
  if (skip) return;
  await kit.close();
  assert.deepEqual(kit.problems, [], 'no page had an uncaught error');
});

const soon = (check: () => Promise<void>): Promise<void> => eventually(check, { withinMs: 60_000 });

/** Ada publishes the test card or its tone, in stereo if asked. */
const publish = (kind: 'audio' | 'video', options: PublishOptions) =>
  ada.page.evaluate(
    async ([which, wanted]) => {
      const card = window.sdk.createTestTracks({ width: 640, height: 360, frameRate: 15 });
      await window.caller.room.self.publish(card[which], wanted);
    },
    [kind, options] as const,
  );

const stopAll = () =>
  ada.page.evaluate(async () => {
    for (const track of [...window.caller.room.self.tracks]) await track.stop();
  });

interface Sent {
  codec: string;
  fmtp: string;
  bytes: number;
  frames: number;
  at: number;
}

/** What ada’s browser was told last of how to send: in the statistics RED is shown as what is in it. */
const answer = () => ada.page.evaluate(() => document.body.dataset['answer'] ?? '');

/** The streams that ada sends now, largest last. */
const sent = (): Promise<Sent[]> =>
  ada.page.evaluate(async () => {
    const [track] = window.caller.room.self.tracks;
    const report = await track?.getStats();
    return [...(report?.values() ?? [])]
      .filter(({ type }) => type === 'outbound-rtp')
      .map(({ codecId, bytesSent, framesEncoded = 0, timestamp }) => {
        const { mimeType = '', sdpFmtpLine = '' } = report?.get(codecId) ?? {};
        return { codec: mimeType, fmtp: sdpFmtpLine, bytes: bytesSent, frames: framesEncoded, at: timestamp };
      });
  });

test('[SDK-73] one layer, of the wanted codec, within its bit rate and frame rate', { skip }, async () => {
  await publish('video', { codec: 'vp9', simulcast: false, maxBitrate: 200_000, frameRate: 8, name: 'card' });
  await bob.watches('ada');
  const [first] = await sent();
  await soon(async () => {
    const [now] = await sent();
    assert.ok(first && now && now.at - first.at > 5_000);
  });
  const now = await sent();
  assert.deepEqual(
    now.map(({ codec }) => codec),
    ['video/VP9'],
  );
  const [{ bytes = 0, frames = 0, at = 0 } = {}] = now;
  const seconds = (at - (first?.at ?? 0)) / 1000;
  const bitrate = ((bytes - (first?.bytes ?? 0)) * 8) / seconds;
  assert.ok(bitrate > 0 && bitrate < 300_000, `${Math.round(bitrate)} bit/s`);
  assert.ok((frames - (first?.frames ?? 0)) / seconds < 10, `${frames} frames in ${seconds} s`);
  const names = await bob.page.evaluate(() =>
    window.caller.room.state.getSnapshot().participants.flatMap(({ tracks }) => tracks.map(({ name }) => name)),
  );
  assert.deepEqual(names, ['card']);
  await stopAll();
});

// Two layers and a small picture: a browser on a busy machine sends no third one.
test('[MED-89] [SDK-110] of one VP9 stream in layers one subscriber gets the lowest, another the highest', {
  skip,
}, async () => {
  const cleo = await kit.caller(room, 'cleo');
  await cleo.join();
  await ada.page.evaluate(async () => {
    const { video } = window.sdk.createTestTracks({ width: 480, height: 270, frameRate: 10 });
    await window.caller.room.self.publish(video, { codec: 'vp9', source: 'CAMERA' });
  });
  const watching = [bob, cleo];
  for (const [at, quality] of (['low', 'high'] as const).entries())
    await soon(async () => {
      const isThere = await watching[at]?.page.evaluate((wanted) => {
        const [track] = window.caller.room.participants.get('ada')?.tracks.values() ?? [];
        track?.setQuality(wanted);
        // An application that takes the media itself gets it in full size.
        return track?.mediaStreamTrack.readyState === 'live';
      }, quality);
      assert.ok(isThere);
    });
  await soon(async () => {
    const widths = await Promise.all(watching.map(async (caller) => (await caller.view('ada')).frameWidth));
    assert.deepEqual(widths, [240, 480]);
  });
  for (const caller of watching) await caller.watches('ada');
  assert.deepEqual(
    (await sent()).map(({ codec }) => codec),
    ['video/VP9'],
    'in one stream',
  );
  await stopAll();
  await cleo.page.evaluate(() => window.caller.room.leave());
  await cleo.page.close();
});

/** A browser that cannot decode VP9: the lines of an offer never say it. */
const forgetVp9 = () => {
  const native = RTCPeerConnection.prototype.setRemoteDescription;
  Object.assign(RTCPeerConnection.prototype, {
    setRemoteDescription({ type, sdp = '' }: RTCSessionDescriptionInit) {
      const without = sdp
        .replace(/^(m=video.*) 98 99/gm, '$1')
        .replace(/^a=(rtpmap|fmtp|rtcp-fb):(98|99) .*\r\n/gm, '');
      return Reflect.apply(native, this, [{ type, sdp: without }]);
    },
  });
};

test('[MED-90] [SDK-112] who cannot decode VP9 is sent VP8, while they are there', { skip }, async () => {
  const dan = await kit.caller(room, 'dan');
  await dan.page.evaluate(forgetVp9);
  await ada.page.evaluate(async () => {
    const { video } = window.sdk.createTestTracks({ width: 320, height: 180, frameRate: 10 });
    await window.caller.room.self.publish(video, { codec: 'vp9', source: 'CAMERA' });
  });
  await bob.watches('ada');
  const framesOf = async (codec: string) => {
    const report = await ada.page.evaluate(async () => {
      const { pub } = await window.caller.room.getStats();
      return [...(pub?.values() ?? [])];
    });
    const isOf = (codecId: string) => report.some(({ id, mimeType }) => id === codecId && mimeType === codec);
    return report
      .filter(({ type, codecId }) => type === 'outbound-rtp' && isOf(codecId))
      .reduce((sum, { framesSent = 0 }) => sum + framesSent, 0);
  };
  assert.equal(await framesOf('video/VP8'), 0, 'nobody needs it');
  await dan.join();
  await dan.watches('ada');
  await bob.watches('ada');
  assert.ok((await framesOf('video/VP8')) > 0 && (await framesOf('video/VP9')) > 0);
  assert.equal(await ada.page.evaluate(() => window.caller.room.self.tracks.size), 1, 'one track');
  await dan.page.evaluate(() => window.caller.room.leave());
  await dan.page.close();
  await soon(async () => {
    const before = await framesOf('video/VP8');
    await bob.watches('ada');
    assert.equal(await framesOf('video/VP8'), before, 'it stops when nobody needs it');
  });
  await stopAll();
});

test('[SDK-111] the browser is told what to keep when the path is short', { skip }, async () => {
  await ada.page.evaluate(() => {
    const native = RTCPeerConnection.prototype.addTransceiver;
    const lines: RTCRtpTransceiver[] = [];
    Object.assign(window, { lines });
    RTCPeerConnection.prototype.addTransceiver = function (...given) {
      const line = Reflect.apply(native, this, given);
      lines.push(line);
      return line;
    };
  });
  await publish('video', { degradationPreference: 'maintain-resolution', source: 'CAMERA' });
  await soon(async () => {
    const kept = await ada.page.evaluate(() => {
      const { lines } = window as unknown as { lines: RTCRtpTransceiver[] };
      return lines.at(-1)?.sender.getParameters().degradationPreference;
    });
    assert.equal(kept, 'maintain-resolution');
  });
  await stopAll();
});

test('[SDK-111] a shared screen has the pictures a second of its hint', { skip }, async () => {
  for (const [contentHint, most] of [
    ['text', 5],
    ['detail', 15],
  ] as const) {
    await ada.page.evaluate(async (hint) => {
      await window.caller.room.self.setScreenShare(true, { contentHint: hint });
    }, contentHint);
    const rate = await ada.page.evaluate(() => {
      const [screen] = [...window.caller.room.self.tracks].filter(({ source }) => source === 'SCREEN_SHARE');
      return screen?.mediaStreamTrack.getSettings().frameRate;
    });
    assert.equal(rate, most);
    await stopAll();
  }
});

test('[SDK-74] sound is sent as RED around Opus, and music in stereo without', { skip }, async () => {
  const codec = async (options: PublishOptions): Promise<string> => {
    await publish('audio', options);
    let found = '';
    await soon(async () => {
      const [one] = await sent();
      assert.ok(one && one.bytes > 0 && one.codec, 'nothing is sent');
      const isRed = /^m=audio 9 \S+ 63 /m.test((await answer()).split(/(?=^m=)/m).at(-1) ?? '');
      found = `${isRed ? 'RED ' : ''}${one.codec} ${one.fmtp}`;
    });
    await stopAll();
    return found;
  };
  assert.match(await codec({}), /^RED audio\/opus /);
  assert.match(await codec({ red: false }), /^audio\/opus .*usedtx=1/);
  const music = await codec({ music: true });
  assert.match(music, /^audio\/opus .*stereo=1/);
  assert.match(music, /maxaveragebitrate=128000/);
  assert.doesNotMatch(music, /usedtx=1/);
});

test('[SDK-74] stereo is heard in stereo', { skip }, async () => {
  await ada.page.evaluate(async () => {
    // A tone on the left, silence on the right.
    const context = new AudioContext();
    const merger = context.createChannelMerger(2);
    const tone = context.createOscillator();
    tone.connect(merger, 0, 0);
    tone.start();
    const output = new MediaStreamAudioDestinationNode(context, { channelCount: 2 });
    merger.connect(output);
    const [media] = output.stream.getAudioTracks();
    if (media) await window.caller.room.self.publish(media, { music: true });
  });
  await soon(async () => {
    const [left = 0, right = 0] = await bob.page.evaluate(async () => {
      const tracks = [...(window.caller.room.participants.get('ada')?.tracks.values() ?? [])];
      const media = tracks.find(({ kind }) => kind === 'audio')?.mediaStreamTrack;
      if (!media) return [];
      const context = new AudioContext();
      const splitter = context.createChannelSplitter(2);
      context.createMediaStreamSource(new MediaStream([media])).connect(splitter);
      const ears = [0, 1].map((channel) => {
        const ear = context.createAnalyser();
        splitter.connect(ear, channel);
        return ear;
      });
      await new Promise((resolve) => setTimeout(resolve, 500));
      const levels = ears.map((ear) => {
        const samples = new Float32Array(ear.fftSize);
        ear.getFloatTimeDomainData(samples);
        return Math.max(...samples.map(Math.abs));
      });
      await context.close();
      return levels;
    });
    assert.ok(left > 0.05 && right < left / 4, `left ${left}, right ${right}`);
  });
  await stopAll();
});

test('[SDK-72] a track that the application plays by itself comes as large as it is sent', { skip }, async () => {
  // Both layers fit what a path is believed to carry at first: on a busy machine that grows slowly.
  await publish('video', { maxBitrate: 200_000, frameRate: 10 });
  await soon(async () => assert.equal((await bob.tiles()).length, 1));
  await bob.page.evaluate(() => {
    for (const track of window.caller.room.participants.get('ada')?.tracks.values() ?? []) {
      track.detach();
      const own = document.createElement('video');
      Object.assign(own, { muted: true, autoplay: true, srcObject: new MediaStream([track.mediaStreamTrack]) });
      document.body.append(own);
    }
  });
  await soon(async () => assert.equal((await bob.view('ada')).frameWidth, 640));
});

test('[SDK-76] what is sent is replaced without publishing anew', { skip }, async () => {
  const before = (await bob.log()).length;
  await ada.page.evaluate(async () => {
    const [track] = window.caller.room.self.tracks;
    await track?.replace(window.sdk.createTestTracks({ width: 480, height: 270, frameRate: 15 }).video);
  });
  await soon(async () => assert.equal((await bob.view('ada')).frameWidth, 480));
  assert.deepEqual(
    (await bob.log()).slice(before).filter((line) => /published|subscribed/.test(line)),
    [],
  );
});
