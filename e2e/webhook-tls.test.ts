import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import type { NewWebhook } from '@parley/contract';
import { addWebhook, readDeliveries } from '../apps/server/testkit/clients/webhooks.ts';
import { eventually } from '../apps/server/testkit/kit/eventually.ts';
import { createPeople } from '../apps/server/testkit/kit/people.ts';
import { startProcess } from '../apps/server/testkit/kit/process.ts';
import { hasValidSignature } from '../apps/server/testkit/peers/receiver.ts';
import { createAuthority, startTlsReceiver } from '../apps/server/testkit/peers/tls-receiver.ts';

test('[WH-21] TLS is checked: a known authority and the right name, or nothing is sent', async () => {
  const authority = await createAuthority();
  const trusted = await startTlsReceiver(await authority.issue('localhost'));
  const misnamed = await startTlsReceiver(await authority.issue('elsewhere.example'));
  const stranger = await createAuthority();
  const unknown = await startTlsReceiver(await stranger.issue('localhost'));
  const server = await startProcess({ NODE_EXTRA_CA_CERTS: authority.file });
  try {
    const project = await createPeople(server.url).newProject();
    const endpoints: NewWebhook[] = [];
    for (const { port } of [trusted, misnamed, unknown]) {
      const webhook = await addWebhook(project, {
        url: `https://localhost:${port}/hook`,
        events: ['conversation.created'],
      });
      endpoints.push(webhook);
    }
    await project.api.call('createConversation', { body: { name: 'talk' } });

    const outcomes = await eventually(
      async () => {
        const deliveries = await Promise.all(endpoints.map(({ id }) => readDeliveries(project, id)));
        const first = deliveries.map(([delivery]) => delivery);
        assert.ok(first.every((delivery) => delivery && delivery.attemptLog.length > 0));
        return first.map((delivery) => [delivery?.status, delivery?.lastError]);
      },
      { withinMs: 30_000 },
    );
    assert.deepEqual(outcomes[0], ['DELIVERED', null]);
    assert.equal(outcomes[1]?.[0], 'RETRYING');
    assert.match(outcomes[1]?.[1] ?? '', /^The TLS connection failed \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
    assert.equal(outcomes[2]?.[0], 'RETRYING');
    assert.match(outcomes[2]?.[1] ?? '', /^The TLS connection failed \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/);

    const [request] = trusted.requests;
    assert.ok(request);
    assert.ok(hasValidSignature(request, endpoints[0]?.secret ?? '', Date.now() / 1000));
    assert.match(request.protocol ?? '', /^TLSv1\.[23]$/);
    assert.deepEqual([misnamed.requests.length, unknown.requests.length], [0, 0], 'not a byte of the event left');
  } finally {
    await server.kill('SIGTERM');
    await rm(server.dataDir, { recursive: true, force: true });
    for (const receiver of [trusted, misnamed, unknown]) await receiver.close();
    await authority.remove();
    await stranger.remove();
  }
});
