import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, test } from 'node:test';
import { failure } from '../../../testkit/kit/failure.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { iso } from '../../core/clock.ts';
import { updateDraining } from './server-store.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

test('[OBS-34] [OBS-50] the load of a node is kept, and a drain says how many rooms are left of those it began with', async () => {
  const name = `sfu-${randomBytes(4).toString('hex')}`;
  const node = service.as(service.config.sfuSecrets[0]);
  const body = { name, region: 'eu', publicHost: 'sfu.example.com', internalUrl: 'http://10.1.2.3:4480' };
  await node.call('registerServer', { body });
  const { api } = await service.newPerson();
  assert.deepEqual(await api.call('getServerLoad', { name }), { points: [], drain: null });
  const beat = (more: object) =>
    node.call('heartbeatServer', { name, body: { activeParticipants: 4, ...more } as never });
  const more = { coreCpuPercents: [60.5, 20], packetsInPerSecond: 900, lossInPercent: 1.5 };
  await beat({ activeRooms: 3, cpuPercent: 40, networkInBps: 1_000, ...more });
  assert.deepEqual((await api.call('getServer', { name })).coreCpuPercents, [60.5, 20]);
  // As an operator's drain does; operators are named in the configuration, and this service has none.
  await updateDraining(service.adapters.db, name, true, iso(service.clock.now()));
  await beat({ activeRooms: 0 });
  const { points, drain } = await api.call('getServerLoad', { name });
  const { at: _, ...first } = points[0] ?? assert.fail('no sample');
  assert.deepEqual(first, {
    cpuPercent: 40,
    memoryPercent: null,
    networkInBps: 1_000,
    networkOutBps: null,
    activeRooms: 3,
    activeParticipants: 4,
    coreCpuPercents: [60.5, 20],
    packetsInPerSecond: 900,
    packetsOutPerSecond: null,
    lossInPercent: 1.5,
    lossOutPercent: null,
  });
  assert.deepEqual([drain?.rooms, drain?.roomsAtStart], [0, 3]);
  await assert.rejects(api.call('getServerLoad', { name: 'nobody' }), failure('SVC_SERVER_NOT_FOUND'));
  await updateDraining(service.adapters.db, name, false, iso(service.clock.now()));
  await node.call('deregisterServer', { name });
});
