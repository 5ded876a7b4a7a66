import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startUdpProxy } from '../../../e2e/udp-proxy.ts';
import { mediaMs, processWorkMs } from '../../server/testkit/kit/eventually.ts';
import { eventually, startTestNode } from '../testkit/node.ts';
import { RtpCall } from '../testkit/rtp-call.ts';
import { endPeers, RtpPeer, Vp8Source } from '../testkit/rtp-peer.ts';
import { writeNack, writeReceiverReport } from './media/rtcp.ts';
import { renderMetrics } from './metrics.ts';

test('[MED-91] every series is there from the start, at zero and with its help', () => {
  const lines = renderMetrics([{ load: undefined }, { load: undefined }])
    .trimEnd()
    .split('\n');
  const series = lines.filter((line) => !line.startsWith('#'));
  assert.ok(series.every((line) => line.endsWith(' 0')));
  assert.ok(series.includes('parley_media_nacks_total{process="1",direction="in"} 0'));
  assert.ok(series.includes('parley_media_video_subscriptions{process="0",layer="paused"} 0'));
  const names = new Set(series.map((line) => line.slice(0, line.indexOf('{'))));
  for (const name of names) assert.ok(lines.some((line) => line.startsWith(`# HELP ${name} `)));
  assert.equal(series.length % 2, 0, 'of both processes');
});

test('[MED-91] a node shows its metrics on its control port, to who has the token, and never to a page', async (context) => {
  const kit = await startTestNode({ METRICS_TOKEN: 'scrape-me' });
  context.after(() => kit.stop());
  const scrape = (headers: Record<string, string>) => fetch(`${kit.node.internalUrl}/metrics`, { headers });
  const authorization = 'Bearer scrape-me';
  const refused = await scrape({});
  assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer']);
  assert.equal((await scrape({ authorization: 'Bearer other' })).status, 401);
  assert.equal((await scrape({ authorization, origin: 'https://example.com' })).status, 403);
  const answer = await scrape({ authorization });
  assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4');
  assert.match(await answer.text(), /^# TYPE parley_media_bytes_total counter$/m);
  await eventually(
    async () => /parley_media_memory_bytes\{process="0"\} [1-9]/.test(await (await scrape({ authorization })).text()),
    'the process does not report',
    processWorkMs,
  );
});

/** Two nodes with a room on both, whose pipe loses what the first sends. */
async function startLossyPair(context: TestContext, room: string) {
  const kits = await Promise.all(['one', 'two'].map((name) => startTestNode({ SFU_NAME: name, SFU_PIPE_PORT: '0' })));
  let calls: RtpCall[] = [];
  const controls = await Promise.all(
    kits.map((kit) => kit.connect({ onEvent: (frame) => calls.forEach((call) => void call.onEvent(frame)) })),
  );
  const pipes = controls.map(({ hello }) => hello.pipes ?? assert.fail('it has no pipes'));
  const [one, two] = pipes;
  const port = two?.ends[0]?.port ?? 0;
  const proxy = await startUdpProxy(port, { host: '127.0.0.1', ...(two && { target: two.host }) });
  context.after(async () => {
    for (const call of calls) call.close();
    endPeers();
    await Promise.all(kits.map((kit) => kit.stop()));
    proxy.close();
  });
  assert.ok(one && two);
  const roundabout = { ...two, host: '127.0.0.1', ends: two.ends.map((end) => ({ ...end, port: proxy.port })) };
  for (const [index, [node, theirs]] of [['two', roundabout] as const, ['one', one] as const].entries()) {
    const command = controls[index]?.command ?? assert.fail();
    await command('room.open', { room });
    await command('node.meet', { node, pipes: theirs });
    const answer = await command('room.link', {
      room,
      own: pipes[index]?.id ?? '',
      nodes: [{ node, pipes: theirs.id }],
    });
    assert.deepEqual(answer, { unknown: [] });
  }
  calls = controls.map((control) => new RtpCall(control, room));
  proxy.up.loss = 0.08;
  const counted = async (index: number, series: string): Promise<number> => {
    const text = await (await fetch(`${kits[index]?.node.internalUrl}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`parley_media_${series} `));
    return Number(line?.slice(line.lastIndexOf(' ')) ?? Number.NaN);
  };
  return { near: calls[0] ?? assert.fail(), far: calls[1] ?? assert.fail(), counted };
}

test('[MED-91] [MED-104] what is lost, requested and repeated, by clients and on pipes, is counted', async (context) => {
  const { near, far, counted } = await startLossyPair(context, 'lossy');
  await near.add('ada', false);
  const publisher = new RtpPeer('ada');
  await near.publish('ada', publisher, 4711);
  const bob = await far.subscribe('bob');
  const last = { ssrc: 0, sequence: 0 };
  bob.onMedia = (packet) => Object.assign(last, { ssrc: packet.readUInt32BE(8), sequence: packet.readUInt16BE(2) });
  await eventually(() => publisher.isConnected && bob.isConnected, 'no connection', mediaMs);
  const source = new Vp8Source({ ssrc: 4711, bytes: 300, packetsPerSecond: 100 });
  let number = 0;
  source.start((packet) => {
    number += 1;
    if (number % 20 !== 0) publisher.send(packet);
  });
  context.after(() => {
    source.stop();
    publisher.close();
  });
  await eventually(() => bob.received > 20, 'nothing crosses the pipe', mediaMs);

  let packetsLost = 0;
  const complain = (): void => {
    const { ssrc, sequence } = last;
    packetsLost += 10;
    const unmeasured = { jitter: 0, lastSenderReport: 0, delaySinceLastSenderReport: 0 };
    bob.send(
      Buffer.concat([
        writeReceiverReport(1, [{ ssrc, fractionLost: 50, packetsLost, highestSequence: sequence, ...unmeasured }]),
        writeNack(1, ssrc, [sequence]),
      ]),
    );
  };
  const into = '{process="0",direction="in"}';
  const out = '{process="0",direction="out"}';
  for (const [index, series] of [
    [0, `packets_total${into}`],
    [0, `bytes_total${into}`],
    [1, `packets_total${out}`],
    [1, `bytes_total${out}`],
    [1, 'estimate_bytes_per_second{process="0"}'],
    [1, 'cpu_seconds_total{process="0"}'],
    [0, `packets_lost_total${into}`],
    [0, `nacks_total${out}`],
    [0, `pipe_nacks_total${into}`],
    [0, 'pipe_packets_resent_total{process="0"}'],
    [0, 'piped_tracks{process="0"}'],
    [1, 'pipes{process="0"}'],
    [1, `pipe_nacks_total${out}`],
    [1, 'pipe_datagrams_lost_total{process="0"}'],
    [1, `packets_lost_total${out}`],
    [1, `nacks_total${into}`],
    [1, 'packets_resent_total{process="0"}'],
  ] as const)
    await eventually(async () => {
      complain();
      return (await counted(index, series)) > 0;
    }, `${series} of node ${index} stays at zero`);
});
