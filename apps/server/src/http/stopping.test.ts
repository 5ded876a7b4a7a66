import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { eventually } from '../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../testkit/kit/service.ts';

// Each has a service of its own, which it stops.

/** Without what keeps it open: it closes the database too. */
const stopMs = 30_000;

/** A request whose head the server has, and whose body it waits for. */
async function beginRequest(service: TestService, apiKey: string): Promise<ClientRequest> {
  const sending = request(`${service.url}/v1/rooms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', expect: '100-continue' },
  });
  sending.flushHeaders();
  await once(sending, 'continue');
  return sending;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

test('[RUN-23] a stopping server finishes the requests in flight, says that the connection closes, and takes no new ones', async () => {
  const service = await startService();
  const { apiKey } = await service.newProject();
  const sending = await beginRequest(service, apiKey);
  const answered = once(sending, 'response');
  const stopping = service.stop();
  await eventually(() => assert.rejects(service.fetch('/healthz')));
  sending.end('{"name":"made-while-it-stops"}');
  const [response] = (await answered) as [IncomingMessage];
  assert.deepEqual([response.statusCode, response.headers.connection], [201, 'close']);
  assert.equal(JSON.parse(await textOf(response)).name, 'made-while-it-stops');
  await stopping;
});

test('[RUN-23] a stopping server ends its event streams whole', async () => {
  const service = await startService();
  const { apiKey } = await service.newProject();
  const asking = request(`${service.url}/v1/events`, { headers: { authorization: `Bearer ${apiKey}` } }).end();
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  const text = textOf(response);
  await once(response, 'readable');
  await service.stop();
  assert.match(await text, /^: connected/);
  assert.equal(response.complete, true);
});

test('[RUN-23] a request that does not end is cut off after HTTP_DRAIN_SECONDS', async () => {
  const service = await startService({ env: { HTTP_DRAIN_SECONDS: '1' } });
  const { apiKey } = await service.newProject();
  const sending = await beginRequest(service, apiKey);
  const cut = once(sending, 'error');
  await service.stop();
  await cut;
});

test('[RUN-23] a connection on which nothing was sent does not keep a stopping server', async () => {
  const service = await startService({ env: { HTTP_DRAIN_SECONDS: '600' } });
  const silent = connect(Number(new URL(service.url).port), '127.0.0.1');
  await once(silent, 'connect');
  // On a later connection: the server has taken the silent one by then.
  await service.fetch('/healthz');
  let isGivenUp = false;
  const patience = setTimeout(() => {
    isGivenUp = true;
    silent.destroy();
  }, stopMs);
  await service.stop();
  clearTimeout(patience);
  assert.equal(isGivenUp, false);
});
