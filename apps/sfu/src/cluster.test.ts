import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createAuthority, type TestAuthority } from '../../server/testkit/peers/tls-receiver.ts';
import { TEST_SECRET } from '../testkit/node.ts';
import { Announcer, findAddresses, machine } from './announce.ts';
import { askCluster, type Cluster } from './cluster.ts';
import { readConfig } from './config.ts';
import { ConfigError } from './config-error.ts';

let authority: TestAuthority;
let api: Server;
let cluster: Cluster;
/** What the API of the cluster answers. */
let node: object | string;
const addresses = [
  { type: 'InternalIP', address: '10.0.0.5' },
  { type: 'ExternalIP', address: '9.9.9.9' },
  { type: 'ExternalIP', address: '2a00::5' },
  { type: 'Hostname', address: 'worker-1' },
];

before(async () => {
  authority = await createAuthority();
  api = createServer(await authority.issue('localhost'), ({ url, headers }, answer) => {
    const isAllowed = headers.authorization === 'Bearer mine' && url === '/api/v1/nodes/worker-1';
    answer.writeHead(isAllowed ? 200 : 403).end(typeof node === 'string' ? node : JSON.stringify(node));
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
  const credentials = await mkdtemp(join(tmpdir(), 'parley-cluster-'));
  await writeFile(join(credentials, 'token'), 'mine\n');
  await writeFile(join(credentials, 'ca.crt'), authority.certificate);
  const { port } = api.address() as AddressInfo;
  cluster = { url: `https://localhost:${port}`, nodeName: 'worker-1', credentials };
});
after(async () => {
  api.closeAllConnections();
  api.close();
  await authority.remove();
  await rm(cluster.credentials, { recursive: true, force: true });
});

const variables = {
  NODE_ENV: 'production',
  SFU_REGISTRATION_SECRET: TEST_SECRET,
  SFU_KUBERNETES_NODE: 'worker-1',
  KUBERNETES_SERVICE_HOST: '10.96.0.1',
};

test('[MED-75] a pod asks its cluster for the external addresses of its machine, and an annotation is surer', async () => {
  node = { metadata: {}, status: { addresses } };
  assert.deepEqual(await askCluster(cluster), ['9.9.9.9', '2a00::5']);
  node = { metadata: { annotations: { 'parley/public-ip': '8.8.4.4, 2a00::9' } }, status: { addresses } };
  assert.deepEqual(await askCluster(cluster), ['8.8.4.4', '2a00::9']);
  node = { metadata: {}, status: {} };
  assert.deepEqual(await askCluster(cluster), []);
});

test('[MED-75] a cluster that does not answer is a sentence that says what to allow', async () => {
  const sentence = (reason: RegExp) => ({
    name: 'ConfigError',
    message: new RegExp(`^The cluster does not say which addresses \\S+ has: ${reason.source}.*get nodes`),
  });
  await assert.rejects(askCluster({ ...cluster, nodeName: 'another' }), sentence(/its API answers 403/));
  await assert.rejects(askCluster({ ...cluster, credentials: '/nowhere' }), sentence(/ENOENT/));
  await assert.rejects(askCluster({ ...cluster, url: 'https://127.0.0.1:1' }), sentence(/.*ECONNREFUSED/));
});

test('[MED-75] whatever else a cluster answers is the same sentence, and read only so far', async () => {
  const strange = ['', '<html>', 'null', '{"status":{"addresses":[null]}}', '{"status":{"addresses":7}}'];
  for (const [answer, reason] of [
    ...strange.map((answer) => [answer, /something else than a Node/] as const),
    ['x'.repeat(2_000_001), /more than 2000000 bytes/] as const,
  ]) {
    node = answer;
    await assert.rejects(askCluster(cluster), (error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, reason);
      return true;
    });
  }
});

test('[MED-75] what the cluster says comes first; what was set is surer, and outside of a cluster it is refused', async () => {
  const config = readConfig(variables);
  assert.equal(config.cluster?.url, 'https://10.96.0.1:443');
  const sources = {
    ...machine,
    interfaces: () => ({}),
    cluster: async () => ['9.9.9.9'],
    resolve: async () => ['1.1.1.1'],
  };
  assert.deepEqual(await findAddresses(config, sources, '8.8.4.4'), ['9.9.9.9']);
  const given = readConfig({ ...variables, SFU_ANNOUNCED_HOST: 'worker-1.media.test' });
  assert.deepEqual(await findAddresses(given, sources, '8.8.4.4'), ['1.1.1.1']);
  assert.throws(() => readConfig({ ...variables, KUBERNETES_SERVICE_HOST: '' }), /^ConfigError: SFU_KUBERNETES_NODE/);
});

test('[MED-75] [MED-72] the last answer of the cluster holds while it is away, and a new one is announced', async () => {
  let answer: () => Promise<string[]> = async () => ['9.9.9.9'];
  const announcer = new Announcer(readConfig(variables), {
    ...machine,
    interfaces: () => ({}),
    cluster: () => answer(),
  });
  await announcer.look(null);
  answer = () => Promise.reject(new Error('away'));
  assert.equal(await announcer.look(null), false);
  assert.deepEqual(announcer.addresses, ['9.9.9.9']);
  answer = async () => ['8.8.4.4'];
  assert.equal(await announcer.look(null), true);
  assert.equal(announcer.publicHost, '8.8.4.4');
});
