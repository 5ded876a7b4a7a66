import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import type { NetworkInterfaceInfo } from 'node:os';
import { test } from 'node:test';
import { TEST_SECRET } from '../testkit/node.ts';
import { candidatesOf, findAddresses, type Sources } from './announce.ts';
import { readConfig } from './config.ts';
import { askStun } from './stun.ts';

const production = { NODE_ENV: 'production', SFU_REGISTRATION_SECRET: TEST_SECRET };

/** A machine with these addresses, by interface. */
function machineWith(addresses: Record<string, string[]>, more: Partial<Sources> = {}): Sources {
  const entry = (address: string) =>
    ({
      address,
      family: address.includes(':') ? 'IPv6' : 'IPv4',
      internal: address.startsWith('127.') || address === '::1',
    }) as NetworkInterfaceInfo;
  return {
    interfaces: () => Object.fromEntries(Object.entries(addresses).map(([name, list]) => [name, list.map(entry)])),
    resolve: async (host) => [host],
    stun: async () => [],
    cluster: async () => [],
    ...more,
  };
}

const behindNat = machineWith({ lo: ['127.0.0.1', '::1'], eth0: ['10.0.0.5', 'fe80::1'] });
const find = (variables: Record<string, string>, sources: Sources, observed: string | null = null) =>
  findAddresses(readConfig({ ...production, ...variables }), sources, observed);

test('[MED-70] without a word in production a node announces what the control plane sees, if that is public', async () => {
  assert.deepEqual(await find({}, behindNat, '8.8.4.4'), ['8.8.4.4', '10.0.0.5']);
  for (const observed of ['127.0.0.1', '10.0.0.1', '100.64.0.1', 'fd00::1', null])
    assert.deepEqual(await find({}, behindNat, observed), ['10.0.0.5']);
});

test('[MED-70] its own public address is surer than any other, then the STUN server, then the control plane', async () => {
  const onWire = machineWith({ eth0: ['9.9.9.9', '10.0.0.5'] });
  assert.deepEqual(await find({}, onWire, '8.8.4.4'), ['9.9.9.9', '10.0.0.5']);
  const stun = machineWith({ eth0: ['10.0.0.5'] }, { stun: async () => ['1.1.1.1'] });
  assert.deepEqual(await find({ SFU_STUN_SERVER: 'stun.example.com' }, stun, '8.8.4.4'), ['1.1.1.1', '10.0.0.5']);
  assert.deepEqual(await find({}, stun), ['10.0.0.5'], 'nobody is asked who was not named');
});

test('[MED-70] the host of PUBLIC_URL is this machine where the control plane is', async () => {
  const named = { PUBLIC_URL: 'https://calls.example.com' };
  const elastic = machineWith({ eth0: ['10.0.0.5'] }, { resolve: async () => ['9.9.9.9'] });
  assert.deepEqual(await find(named, elastic, '127.0.0.1'), ['9.9.9.9', '10.0.0.5']);
  assert.deepEqual(await find({ ...named, CONTROL_URL: 'http://10.0.0.9:4000' }, elastic, '10.0.0.5'), ['10.0.0.5']);
  const lan = machineWith({ eth0: ['10.0.0.5'], eth1: ['192.168.0.7'] }, { resolve: async () => ['192.168.0.7'] });
  assert.deepEqual(await find(named, lan), ['192.168.0.7', '10.0.0.5']);
  const offline = machineWith({ eth0: ['10.0.0.5'] }, { resolve: () => Promise.reject(new Error('ENOTFOUND')) });
  assert.deepEqual(await find(named, offline), ['10.0.0.5']);
});

test('[MED-71] candidates: public before private, IPv6 too, bridges and loopback never when there is another', async () => {
  const dual = machineWith({
    lo: ['127.0.0.1'],
    docker0: ['172.17.0.1'],
    'br-0123456789ab': ['172.18.0.1'],
    eth0: ['10.0.0.5', '9.9.9.9', 'fd00::5', '2a00::5', '169.254.1.1'],
  });
  const found = await find({}, dual);
  assert.deepEqual(found, ['2a00::5', '9.9.9.9', '10.0.0.5', 'fd00::5']);
  const priorities = candidatesOf(found, 4443).map((candidate) => Number(candidate.split(' ')[1]));
  assert.deepEqual(
    priorities,
    priorities.toSorted((a, b) => b - a),
  );
  assert.deepEqual(await find({}, machineWith({ eth0: ['2a00::5'] })), ['2a00::5']);
  assert.deepEqual(await find({ SFU_BIND_ADDRESS: '10.0.0.5' }, dual), ['10.0.0.5']);
  assert.deepEqual(await find({ SFU_BIND_ADDRESS: '0.0.0.0' }, dual), ['9.9.9.9', '10.0.0.5']);
  await assert.rejects(find({}, machineWith({ lo: ['127.0.0.1'] })), /^ConfigError: This machine has no address/);
});

test('[MED-71] what is given is announced as it is: SFU_ANNOUNCED_HOST alone, SFU_PUBLIC_IP before the own ones', async () => {
  assert.deepEqual(await find({ SFU_ANNOUNCED_HOST: '203.0.113.9' }, behindNat, '8.8.4.4'), ['203.0.113.9']);
  const both = { SFU_PUBLIC_IP: '203.0.113.9, 2001:db8::9' };
  assert.deepEqual(await find(both, behindNat, '8.8.4.4'), ['203.0.113.9', '2001:db8::9', '10.0.0.5']);
});

test('[MED-70] a STUN server is asked by the protocol of RFC 8489', async () => {
  // The mapped address of RFC 5769, whose port we do not need: 192.0.2.1 hidden with the magic cookie.
  const server = createSocket('udp4');
  server.on('message', (request, { port, address }) => {
    const answer = Buffer.concat([Buffer.from('0101000c2112a442', 'hex'), request.subarray(8, 20)]);
    const mapped = Buffer.from('002000080001a147e112a643', 'hex');
    server.send(Buffer.concat([answer, mapped]), port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  assert.deepEqual(await askStun({ host: '127.0.0.1', port: server.address().port }), ['192.0.2.1']);
  server.close();
});
