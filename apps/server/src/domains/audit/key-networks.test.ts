import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AuditEntry } from '@parley/contract';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { Person } from '../../../testkit/kit/people.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

describe('networks of API keys', () => {
  let service: TestService;
  /** On the same database, as another process would be. */
  let other: TestService;
  before(async () => {
    // Of its own: a table of its database is away for a while.
    service = await startService();
    other = await startService({ beside: service });
  });
  after(async () => {
    await other.stop();
    await service.stop();
  });

  const use = async (at: TestService, apiKey: string, ip: string): Promise<void> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'x-forwarded-for': ip, 'user-agent': 'backend/1' };
    assert.equal((await at.fetch('/v1/rooms', { headers })).status, 200);
  };
  const recorded = (owner: Person, projectId: string): Promise<AuditEntry[]> =>
    owner.api.call('listAuditLogs', { projectId, query: { action: 'api_key.used_from_new_network' } });
  const networksOf = (entries: readonly AuditEntry[]) => entries.map(({ metadata }) => metadata['network']).toSorted();

  test('[AUD-10] the first use of an API key from a network is recorded, once over all processes', async () => {
    const { owner, id, apiKey } = await service.newProject();
    const addresses = ['203.0.113.7', '203.0.113.99', '198.51.100.1', '2001:db8:1:2::3', '2001:db8:1:9::3'];
    const uses = [service, other].flatMap((at) => addresses.map((ip) => use(at, apiKey, ip)));
    await Promise.all([...uses, ...addresses.map((ip) => use(service, apiKey, ip))]);
    const networks = ['198.51.100.0/24', '2001:db8:1::/48', '203.0.113.0/24'];
    await eventually(async () => assert.deepEqual(networksOf(await recorded(owner, id)), networks));

    // One that comes after all of these has come: then there is no second of them.
    await use(other, apiKey, '192.0.2.1');
    const entries = await eventually(async () => {
      const found = await recorded(owner, id);
      assert.deepEqual(networksOf(found), ['192.0.2.0/24', ...networks]);
      return found;
    });
    const publicId = apiKey.slice('svk_dev_'.length).split('.')[0];
    const newest = entries.find(({ metadata }) => metadata['network'] === '192.0.2.0/24');
    assert.deepEqual(
      [newest?.resourceType, newest?.resourceId, newest?.actorEmail, newest?.environment, newest?.ipAddress],
      ['api_key', publicId, `API key ${publicId}`, 'DEVELOPMENT', '192.0.2.0'],
    );
    assert.equal(newest?.userAgent, 'backend/1');
  });

  test('[AUD-10] a wrong key leaves nothing behind; what could not be recorded is recorded with the next use', async () => {
    const { owner, id, apiKey } = await service.newProject();
    const headers = { authorization: `Bearer ${apiKey.slice(0, -2)}xx`, 'x-forwarded-for': '203.0.113.7' };
    assert.equal((await service.fetch('/v1/rooms', { headers })).status, 401);
    const { db } = service.adapters;
    await db.script('alter table api_key_networks rename to api_key_networks_away');
    await use(service, apiKey, '198.51.100.1');
    await db.script('alter table api_key_networks_away rename to api_key_networks');
    // What could not be recorded is recorded with the next use.
    await eventually(async () => {
      await use(service, apiKey, '198.51.100.1');
      assert.deepEqual(networksOf(await recorded(owner, id)), ['198.51.100.0/24']);
    });
  });
});
