import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { closeOpened, LARGE, newSvcCamera, openLegs, showing, subscribe } from '../../testkit/legs.ts';
import { eventually } from '../../testkit/node.ts';
import { SvcSource } from '../../testkit/svc.ts';
import { newRtpView, readRtp } from '../media/rtp.ts';

const view = newRtpView();
afterEach(closeOpened);

test('[PIPE-8] spatial layers of one stream are one stream on a pipe, and each subscriber gets its own of them', async () => {
  const { clock, camera, requests, remote } = await openLegs(newSvcCamera);
  const source = new SvcSource({ mode: 'full', spatial: 3, temporal: 1, hasSizes: true });
  const show = (isKey: boolean): void => {
    for (const packet of source.picture({ isKey }).flatMap(({ packets }) => packets)) {
      assert.ok(readRtp(packet, view));
      camera.receive(view, 0, clock.now());
    }
  };
  assert.deepEqual([remote.layers.length, remote.isSimulcast, remote.describe(0).simulcast], [3, false, false]);
  show(true);
  const [middle, top] = [subscribe(remote, 1), subscribe(remote, 2)];
  await eventually(() => requests.length > 0, 'no keyframe was asked for');
  show(true);
  for (let picture = 1; picture < 5; picture += 1) show(false);
  await eventually(() => top.got.length === 5 * 6, 'not every packet of all layers came');
  assert.equal(middle.got.length, 5 * 4, 'without the layer above its own');
  assert.deepEqual(
    remote.layers.map(({ upstream }) => upstream === remote.layers[0]?.upstream),
    [true, true, true],
  );

  remote.unsubscribe(top.subscription);
  const wanted = () => {
    camera.takeDemand(clock.now());
    return camera.layers.map(({ isEnabled }) => isEnabled);
  };
  await eventually(() => wanted()[2] === false, 'the publisher sends on what nobody wants');
  assert.deepEqual(wanted(), [true, true, false]);
});

test('[PIPE-44] of one stream in spatial layers the content of the top one stays away, and comes again later', async () => {
  const { clock, camera, remote, proxies } = await openLegs(newSvcCamera, { betweenNodes: { otherSecrets: [] } });
  const source = new SvcSource({ mode: 'full', spatial: 3, temporal: 1, hasSizes: true });
  const { got, subscription } = subscribe(remote, 2);
  let pictures = 0;
  const show = (): void => {
    pictures += 1;
    for (const packet of source.picture({ isKey: pictures % 5 === 1 }).flatMap(({ packets }) => packets)) {
      // A datagram each, so that single ones can be lost.
      const large = Buffer.concat([packet, Buffer.from(LARGE)]);
      assert.ok(readRtp(large, view));
      camera.receive(view, 0, clock.now());
    }
  };
  const shows = showing(show);
  const canServe = () => [0, 1, 2].map((layer) => remote.canServe(layer, clock.now()));
  const rate = () => {
    remote.measure(clock.now());
    return remote.bitrateOf(2, clock.now());
  };
  await shows(() => got.length > 200 && rate() > 0, 'the top layer does not come');
  assert.deepEqual(canServe(), [true, true, true]);

  proxies[1].up.loss = 0.3;
  await shows(() => canServe()[2] === false, 'the pipe goes on losing');
  proxies[1].up.loss = 0;
  subscription.setTarget(1);
  await shows(() => subscription.current === 1, 'the layer below does not come');
  const before = got.length;
  await shows(() => got.length >= before + 40, 'the layer below does not go on');
  const came = got.slice(before);
  assert.deepEqual(
    came.map((sequence) => (sequence - (came[0] ?? 0)) & 0xffff),
    came.map((_, index) => index),
    'what stays away leaves no gap',
  );
  const kept = Array.from({ length: 0x10000 }, (_, sequence) => remote.cacheOf(0)?.get(sequence)?.length ?? 0);
  // Two packets a picture for each layer.
  assert.ok(kept.filter((bytes) => bytes > 0 && bytes < LARGE.length).length >= 40 / 2, 'it comes without content');

  await shows(() => canServe()[2] === true, 'the top layer stays away');
  subscription.setTarget(2);
  await shows(() => subscription.current === 2, 'the top layer does not come again');
});
