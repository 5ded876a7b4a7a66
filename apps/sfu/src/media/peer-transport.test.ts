import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually, freeUdpPort } from '../../testkit/node.ts';
import { PeerTransport } from './peer-transport.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('[MED-45] a closed transport leaves nothing in memory', async () => {
  const udpPort = await freeUdpPort();
  const open = (): WeakRef<PeerTransport> => {
    const listener = { packet() {}, state() {}, data() {} };
    const onError = (error: unknown) => assert.fail(String(error));
    const transport: PeerTransport = new PeerTransport({
      name: 'test',
      udpPort,
      bindAddress: undefined,
      hasData: true,
      // As in the engine, the listener leads back to the transport.
      listener: { ...listener, state: () => void transport.state },
      onError,
    });
    transport.offer();
    transport.close();
    transport.close();
    assert.equal(transport.send(Buffer.alloc(20)), false);
    assert.equal(transport.sendData('reliable', new Uint8Array(1)), 'closed');
    return new WeakRef(transport);
  };
  const references = Array.from({ length: 5 }, open);
  await eventually(() => {
    collectGarbage();
    return references.every((reference) => reference.deref() === undefined);
  }, 'a transport is still in memory');
});
