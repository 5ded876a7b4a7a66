import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, bytesOf, parseAddress } from './addresses.ts';
import { encodeChannelData } from './channel-data.ts';
import { addFingerprint, isFingerprinted, isSigned, longTermKey, sign } from './integrity.ts';
import { rewriteAnswer, rewriteCheck } from './rewrite.ts';
import { StreamReader } from './stream-reader.ts';
import {
  ATTRIBUTE,
  decodeStun,
  encodeStun,
  find,
  findText,
  findUint32,
  METHOD,
  type NewAttribute,
  readXorAddress,
  type StunMessage,
  xorAddress,
} from './stun.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const password = 'VOkJxbRl1RmTxUk/WvJxBt';
const SOFTWARE = 0x8022;

/** RFC 5769 2.1 to 2.4. */
const vectors = {
  request: hex(`000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74
    002400046e0001ff80290008932ff9b151263b3600060009 6576746a3a68367659202020
    000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf`),
  ipv4: hex(`0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220
    002000080001a147e112a643000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96`),
  ipv6: hex(`010100482112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220
    002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9
    00080014a382954e4be67bf11784c97c8292c275bfe3ed4180280004c8fb0b4c`),
  longTerm: hex(`000100602112a44278ad3433c6ad72c029da412e00060012e3839ee38388e383aae38383e382afe382b90000
    0015001c662f2f3439396b39353464364f4c33346f4c39465354767936347341
    0014000b6578616d706c652e6f72670000080014f67024656dd64a3e02b8e0712e85c9a28ca89666`),
};

const decoded = (bytes: Buffer): StunMessage => decodeStun(bytes) ?? assert.fail('not decoded');

test('[TURN-1] messages are those of RFC 5769, read and written', () => {
  for (const [name, bytes] of Object.entries(vectors)) {
    const message = decoded(bytes);
    assert.equal(message.method, METHOD.binding, name);
    const key = name === 'longTerm' ? longTermKey('マトリックス', 'example.org', 'TheMatrIX') : password;
    assert.ok(isSigned(bytes, message, key), `${name} is signed`);
    assert.ok(!isSigned(bytes, message, 'another'), `${name} is not signed by another`);
    assert.equal(isFingerprinted(bytes), name !== 'longTerm', `${name} has a fingerprint`);
  }
  const { request, longTerm } = vectors;
  assert.equal(findText(decoded(request), ATTRIBUTE.username), 'evtj:h6vY');
  assert.equal(findUint32(decoded(request), ATTRIBUTE.priority), 0x6e0001ff);
  const covered = decoded(longTerm).attributes.flatMap(({ type, value }) =>
    type === ATTRIBUTE.messageIntegrity ? [] : [[type, value] as const],
  );
  const key = longTermKey('マトリックス', 'example.org', 'TheMatrIX');
  assert.deepEqual(sign(encodeStun(decoded(longTerm), covered), key), longTerm);
  assert.deepEqual(addFingerprint(strip(vectors.ipv4, 8)), vectors.ipv4);
});

/** The message without what its last attributes are, of this many bytes. */
function strip(bytes: Buffer, length: number): Buffer {
  const shorter = Buffer.from(bytes.subarray(0, bytes.length - length));
  shorter.writeUInt16BE(shorter.length - 20, 2);
  return shorter;
}

test('[TURN-1] addresses of RFC 5769, and IPv4 in IPv6 is IPv4', () => {
  const address = (bytes: Buffer) => {
    const message = decoded(bytes);
    return readXorAddress(find(message, ATTRIBUTE.mappedAddress), message.transactionId);
  };
  const ipv6 = { family: 6, address: '2001:db8:1234:5678:11:2233:4455:6677', port: 32853 } as const;
  assert.deepEqual(address(vectors.ipv4), { family: 4, address: '192.0.2.1', port: 32853 });
  assert.deepEqual(address(vectors.ipv6), ipv6);
  const { transactionId } = decoded(vectors.ipv6);
  assert.deepEqual(xorAddress(ipv6, transactionId), find(decoded(vectors.ipv6), ATTRIBUTE.mappedAddress));
  for (const text of ['::1', 'fe80::1:2', '2001:db8::', '1:2:3:4:5:6:7:8'])
    assert.equal(addressOf(bytesOf(text), 1).address, text);
  for (const text of ['::ffff:127.0.0.1', '::ffff:7f00:1']) assert.equal(parseAddress(text, 1)?.address, '127.0.0.1');
  assert.equal(parseAddress('node.example.com', 1), undefined);
});

test('[TURN-1] what is malformed is nothing', () => {
  const { request } = vectors;
  for (let length = 0; length < request.length; length += 1) {
    assert.equal(decodeStun(request.subarray(0, length)), null);
    const cut = Buffer.from(request.subarray(0, length));
    // The header agrees with what is left, the attributes do not.
    if (length >= 20) cut.writeUInt16BE(length - 20, 2);
    decodeStun(cut);
  }
  const lying = Buffer.from(request);
  lying.writeUInt16BE(0xffff, 22);
  assert.equal(decodeStun(lying), null);
});

test('[TURN-2] a stream is cut into messages wherever it is broken, and other protocols are refused', () => {
  const data = encodeChannelData(0x4001, Buffer.from('hello'), true);
  const stream = Buffer.concat([vectors.request, data, vectors.ipv4]);
  for (const size of [1, 3, 7, 64, stream.length]) {
    const reader = new StreamReader();
    const found: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) found.push(...(reader.read(stream.subarray(at, at + size)) ?? []));
    assert.deepEqual(found, [vectors.request, data, vectors.ipv4]);
  }
  assert.equal(new StreamReader().read(Buffer.from([0x80, 0, 0, 0])), null);
  assert.equal(new StreamReader().read(Buffer.from('GET / HTTP/1.1\r\n'))?.length, 0, 'ChannelData as far as one sees');
  assert.equal(new StreamReader().read(hex('1603010100010000fc0303')), null, 'a TLS handshake is none');
});

test('[TURN-7] a check without tie-breaker gets one, and every check the priority of a relay', () => {
  const tieBreaker = hex('0102030405060708');
  const { request } = vectors;
  const zeroed = Buffer.from(strip(request, 32));
  zeroed.fill(0, zeroed.indexOf(hex('932ff9b151263b36')), zeroed.indexOf(hex('932ff9b151263b36')) + 8);
  const check = addFingerprint(sign(zeroed, password));
  const asked: string[] = [];
  const passwordOf = (ufrag: string) => {
    asked.push(ufrag);
    return password;
  };
  const mended = rewriteCheck(check, tieBreaker, passwordOf);
  assert.deepEqual(asked, ['evtj']);
  assert.deepEqual(find(decoded(mended), ATTRIBUTE.iceControlled), tieBreaker);
  assert.equal(findUint32(decoded(mended), ATTRIBUTE.priority), 0x000001ff);
  assert.ok(isSigned(mended, decoded(mended), password) && isFingerprinted(mended));
  const own = rewriteCheck(request, tieBreaker, passwordOf);
  assert.deepEqual(find(decoded(own), ATTRIBUTE.iceControlled), hex('932ff9b151263b36'), 'one that is there stays');
  assert.equal(
    rewriteCheck(request, tieBreaker, () => 'another'),
    request,
    'not for us: unchanged',
  );
  assert.equal(rewriteCheck(vectors.ipv4, tieBreaker, passwordOf), vectors.ipv4, 'an answer is unchanged');
  const rtp = hex('80600001000000010000000100');
  assert.equal(rewriteCheck(rtp, tieBreaker, passwordOf), rtp);
});

test('[TURN-16] the answer to a check gets the relayed address, and nothing else changes', () => {
  const { request, ipv4, ipv6 } = vectors;
  for (const relayed of [parseAddress('192.0.2.7', 4443), parseAddress('2001:db8::7', 4443)])
    for (const answer of [ipv4, ipv6]) {
      assert.ok(relayed);
      const mended = rewriteAnswer(answer, relayed, password);
      const { transactionId } = decoded(answer);
      assert.deepEqual(readXorAddress(find(decoded(mended), ATTRIBUTE.mappedAddress), transactionId), relayed);
      assert.equal(findText(decoded(mended), SOFTWARE), 'test vector');
      assert.ok(isSigned(mended, decoded(mended), password) && isFingerprinted(mended));
      assert.equal(rewriteAnswer(answer, relayed, 'another'), answer, 'of another process: unchanged');
      assert.equal(rewriteAnswer(request, relayed, password), request, 'a check is unchanged');
    }
});

test('[TURN-7] a check that would grow too long, or has no place for a tie-breaker, passes as it is', () => {
  const tieBreaker = hex('0102030405060708');
  const head = { method: METHOD.binding, class: 'request', transactionId: Buffer.alloc(12, 1) } as const;
  const empty = Array.from({ length: 29 }, (): NewAttribute => [ATTRIBUTE.iceControlled, Buffer.alloc(0)]);
  const username: NewAttribute = [ATTRIBUTE.username, Buffer.from('evtj:h6vY')];
  const long = sign(encodeStun(head, [username, [SOFTWARE, Buffer.alloc(65_000)], ...empty]), password);
  assert.equal(
    rewriteCheck(long, tieBreaker, () => password),
    long,
  );
  const short = rewriteCheck(sign(encodeStun(head, [username, ...empty]), password), tieBreaker, () => password);
  assert.deepEqual(find(decoded(short), ATTRIBUTE.iceControlled), Buffer.alloc(0));
});
