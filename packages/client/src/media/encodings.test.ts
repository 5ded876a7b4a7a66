import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EncodingOptions, encodingsFor, layersOf, preferCodec, tuneOpus } from './encodings.ts';

/** Video of this width, as far as encodings look at it. */
const video = (width: number): MediaStreamTrack =>
  ({ kind: 'video', getSettings: () => ({ width, height: (width * 9) / 16 }) }) as MediaStreamTrack;

const shown = (source: 'CAMERA' | 'SCREEN_SHARE', width: number, options?: EncodingOptions) =>
  encodingsFor(source, video(width), options).map(
    ({ rid = '-', scaleResolutionDownBy = 1, maxBitrate }) => `${rid} /${scaleResolutionDownBy} ${maxBitrate}`,
  );

test('[SDK-73] a camera is sent in as many layers as its size is worth, a screen in one', () => {
  assert.deepEqual(shown('CAMERA', 1280), ['q /4 150000', 'h /2 500000', 'f /1 1700000']);
  assert.deepEqual(shown('CAMERA', 640), ['q /2 150000', 'h /1 500000']);
  assert.deepEqual(shown('CAMERA', 320), ['- /1 400000']);
  assert.deepEqual(shown('SCREEN_SHARE', 1920), ['- /1 2500000']);
});

test('[SDK-73] layers can be turned off and on; the bit rate is that of the largest, the others keep their share', () => {
  assert.deepEqual(shown('CAMERA', 1280, { simulcast: false }), ['- /1 1700000']);
  assert.deepEqual(shown('CAMERA', 1280, { simulcast: false, maxBitrate: 300_000 }), ['- /1 300000']);
  assert.deepEqual(shown('CAMERA', 640, { maxBitrate: 250_000 }), ['q /2 75000', 'h /1 250000']);
  assert.deepEqual(shown('SCREEN_SHARE', 1920, { simulcast: true, maxBitrate: 3_400_000 }), [
    'q /4 300000',
    'h /2 1000000',
    'f /1 3400000',
  ]);
});

test('[SDK-73] [SDK-110] the frame rate bounds every layer; VP9 and AV1 carry their layers in one stream', () => {
  const modes = (width: number, options: EncodingOptions) =>
    encodingsFor('CAMERA', video(width), options).map((one) => [one.maxFramerate, one.scalabilityMode, one.maxBitrate]);
  assert.deepEqual(modes(640, { frameRate: 10, codec: 'vp9' }), [[10, 'L2T3_KEY', 500_000]]);
  assert.deepEqual(modes(1280, { codec: 'av1' }), [[undefined, 'L3T3_KEY', 1_700_000]]);
  assert.deepEqual(modes(1280, { codec: 'av1', scalabilityMode: 'L2T1' }), [[undefined, 'L2T1', 1_700_000]]);
  assert.deepEqual(modes(1280, { codec: 'vp9', simulcast: false }), [[undefined, 'L1T3', 1_700_000]]);
  assert.deepEqual(modes(320, { codec: 'vp9' }), [[undefined, 'L1T3', 400_000]]);
  assert.equal(modes(1280, { codec: 'vp8' })[0]?.[1], undefined);
  assert.deepEqual(modes(640, { frameRate: 10, codec: 'vp9', simulcast: true }), [
    [10, 'L1T3', 150_000],
    [10, 'L1T3', 500_000],
  ]);
});

test('[SDK-110] the layers of one stream are announced like those of several', () => {
  const track = video(1280);
  const layers = (options: EncodingOptions) => layersOf(encodingsFor('CAMERA', track, options), track);
  assert.deepEqual(layers({ codec: 'vp9' }), layers({}));
  assert.deepEqual(
    layers({ codec: 'av1', scalabilityMode: 'L2T3' }).map(({ rid, height }) => [rid, height]),
    [
      ['q', 360],
      ['h', 720],
    ],
  );
});

test('[SDK-73] [SDK-74] the wanted codec comes before the browser’s own order', (context) => {
  const names = { audio: ['audio/opus', 'audio/red', 'audio/PCMU'], video: ['video/VP8', 'video/VP9', 'video/H264'] };
  const getCapabilities = (kind: 'audio' | 'video') => ({ codecs: names[kind].map((mimeType) => ({ mimeType })) });
  Object.assign(globalThis, { RTCRtpReceiver: { getCapabilities } });
  context.after(() => Reflect.deleteProperty(globalThis, 'RTCRtpReceiver'));
  const order = (kind: 'audio' | 'video', options: EncodingOptions): string => {
    let set: string[] = [];
    const setCodecPreferences = (codecs: { mimeType: string }[]): void => {
      set = codecs.map(({ mimeType }) => mimeType.split('/')[1] ?? '');
    };
    preferCodec({ setCodecPreferences } as unknown as RTCRtpTransceiver, kind, options);
    return set.join(' ');
  };
  assert.equal(order('video', { codec: 'h264' }), 'H264 VP8 VP9');
  assert.equal(order('video', { codec: 'av1' }), 'VP8 VP9 H264', 'a browser without it goes on');
  assert.equal(order('video', {}), '', 'nothing is wanted');
  assert.equal(order('audio', {}), 'red opus PCMU');
  assert.deepEqual(
    [{ red: false }, { stereo: true }, { music: true }].map((options) => order('audio', options)),
    Array(3).fill('opus red PCMU'),
  );
  assert.equal(order('audio', { music: true, red: true }), 'red opus PCMU');
});

test('[SDK-74] the answer says what the Opus encoder is to do', () => {
  const tuned = (options: EncodingOptions) =>
    tuneOpus({ mid: '0', kind: 'audio', direction: 'recvonly', codecs: [{ name: 'opus', pt: 111 }] }, options)
      .codecs?.[0]?.fmtp?.split(';')
      .slice(2)
      .join(';');
  assert.equal(tuned({}), 'usedtx=1');
  assert.equal(tuned({ dtx: false }), '');
  assert.equal(tuned({ maxBitrate: 24_000 }), 'usedtx=1;maxaveragebitrate=24000');
  assert.equal(tuned({ stereo: true }), 'stereo=1');
  assert.equal(tuned({ music: true }), 'stereo=1;maxaveragebitrate=128000');
  assert.equal(tuned({ music: true, maxBitrate: 256_000, dtx: true }), 'usedtx=1;stereo=1;maxaveragebitrate=256000');
});

test('[MED-84] a camera held upright is sent like one held across', () => {
  const encodings = (width: number, height: number) =>
    encodingsFor('CAMERA', {
      kind: 'video',
      getSettings: () => ({ width, height }),
      // The rest of a track is not used here.
    } as unknown as MediaStreamTrack);
  assert.deepEqual(encodings(720, 1280), encodings(1280, 720));
  assert.deepEqual(encodings(360, 640), encodings(640, 360));
  assert.deepEqual(encodings(240, 320), encodings(320, 240));
  assert.equal(encodings(720, 1280).length, 3);
});
