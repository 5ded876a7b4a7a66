import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { internalHosts, publicHosts } from '../../../testkit/peers/internal-hosts.ts';
import { isAddressAllowed, isPortAllowed } from './address-guard.ts';
import { checkWebhookUrl } from './url-check.ts';

const strict = { allowsLoopback: false, allowsPrivate: false };
const production = { isProduction: true, allowPrivate: false };
const development = { isProduction: false, allowPrivate: false };

const isRefused = (...args: Parameters<typeof checkWebhookUrl>): boolean => {
  try {
    checkWebhookUrl(...args);
    return false;
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'SVC_INVALID_WEBHOOK_URL', String(error));
    return true;
  }
};

test('[WH-10] every spelling of an internal host is refused at registration, and public ones are not', () => {
  assert.ok(internalHosts.length >= 100, `only ${internalHosts.length} forms`);
  for (const host of internalHosts) {
    for (const rules of [production, development]) {
      assert.ok(isRefused(`https://${host}/hook`, 'PRODUCTION', rules), host);
      assert.ok(isRefused(`https://${host}:8443/hook`, 'PRODUCTION', rules), host);
    }
    assert.ok(isRefused(`http://${host}/hook`, 'DEVELOPMENT', production), `${host} in production`);
  }
  for (const host of publicHosts) {
    assert.ok(!isRefused(`https://${host}/hook`, 'PRODUCTION', production), host);
    assert.ok(!isRefused(`http://${host}:8080/hook?x=1`, 'DEVELOPMENT', production), host);
  }
});

test('[WH-10] https is for production endpoints, loopback for development ones outside production', () => {
  assert.ok(isRefused('http://example.com/', 'PRODUCTION', development));
  for (const url of [
    'http://127.0.0.1:3000/',
    'http://localhost:3000/',
    'http://[::1]:3000/',
    'https://app.localhost/',
  ]) {
    assert.ok(!isRefused(url, 'DEVELOPMENT', development), url);
    assert.ok(isRefused(url, 'DEVELOPMENT', production), url);
    assert.ok(isRefused(url.replace('http:', 'https:'), 'PRODUCTION', development), url);
  }
  for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/', 'http://db.internal/', 'http://redis:8080/'])
    assert.ok(isRefused(url, 'DEVELOPMENT', development), url);
  // The operator's own switch opens private networks, and never the metadata services.
  const open = { isProduction: true, allowPrivate: true };
  for (const url of [
    'https://10.0.0.1/',
    'https://hooks.internal/',
    'https://receiver:8080/',
    'https://127.0.0.1:8443/',
  ])
    assert.ok(!isRefused(url, 'PRODUCTION', open), url);
  for (const url of ['https://169.254.169.254/', 'https://metadata.google.internal/', 'https://[fd00:ec2::254]/'])
    assert.ok(isRefused(url, 'PRODUCTION', open), url);
});

test('[WH-10] what is not a plain http(s) URL is refused', () => {
  for (const url of [
    'example.com',
    '//example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://',
    'https:///path',
    'https:example.com',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://@example.com/',
    'https://exa mple.com/',
    'https://example.com/a b',
    'https://example.com/\r\nx-evil: 1',
    'https://exam\tple.com/',
    'https://example.com\\@127.0.0.1/',
    'https:\\\\example.com/',
    ' https://example.com/',
    'https://example.com/\u0000',
    'https://example.com/\ud800',
    'https://example.com:0/',
    'https://example.com:22/',
    'https://example.com:25/',
    'https://example.com:5432/',
    'https://example.com:6379/',
    'https://example.com:11211/',
    'https://example.com:99999/',
    'https://[::1/',
    'https://%00/',
    'https://1.2.3.4.5/',
    'https://256.256.256.256/',
  ])
    assert.ok(isRefused(url, 'PRODUCTION', production), JSON.stringify(url));
});

test('[WH-11] an IPv4 address is judged the same inside IPv6, whatever it is', () => {
  const octet = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
      const plain = octets.join('.');
      const [high, low] = [(octets[0] << 8) | octets[1], (octets[2] << 8) | octets[3]].map((group) =>
        group.toString(16),
      );
      const expected = isAddressAllowed(plain, strict);
      for (const spelling of [
        `::ffff:${plain}`,
        `::ffff:${high}:${low}`,
        `0:0:0:0:0:ffff:${high}:${low}`,
        `::ffff:0:${plain}`,
      ])
        assert.equal(isAddressAllowed(spelling, strict), expected, spelling);
      for (const spelling of [`::${plain}`, `64:ff9b::${plain}`, `2002:${high}:${low}::1`])
        assert.equal(isAddressAllowed(spelling, strict), false, spelling);
    }),
    { numRuns: 2_000 },
  );
  for (const text of ['', 'localhost', '1.2.3', '::1%lo', 'fe80::1%eth0', '8.8.8.8 ', '08.8.8.8'])
    assert.equal(isAddressAllowed(text, strict), false, text);
  assert.ok(isAddressAllowed('8.8.8.8', strict) && isAddressAllowed('2606:4700:4700::1111', strict));
});

test('[WH-10] ports of other services are closed', () => {
  assert.deepEqual(
    [80, 443, 1024, 3000, 8080, 8443, 65535].filter((port) => !isPortAllowed(port)),
    [],
  );
  assert.deepEqual(
    [0, 1, 22, 25, 53, 111, 1023, 3306, 5432, 6379, 9200, 11211, 27017, 65536].filter(isPortAllowed),
    [],
  );
});
