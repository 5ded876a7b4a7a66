import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createCertificate } from './certificate.ts';

const NOW = Date.parse('2026-11-15T00:00:00Z');

test('[MED-53] the certificate is one that others read, signed by its own key, with the fingerprint we announce', () => {
  for (let round = 0; round < 50; round += 1) {
    const { certificatePem, keyPem, fingerprint } = createCertificate(NOW);
    const certificate = new X509Certificate(certificatePem);
    assert.equal(`sha-256 ${certificate.fingerprint256}`, fingerprint);
    assert.ok(certificate.checkPrivateKey(createPrivateKey(keyPem)));
    assert.ok(certificate.verify(certificate.publicKey));
    assert.equal(certificate.subject, 'CN=parley');
    assert.ok(certificate.validFromDate.getTime() < NOW && certificate.validToDate.getTime() > NOW);
  }
});

test('[MED-53] no two certificates share a key', () => {
  assert.notEqual(createCertificate(NOW).fingerprint, createCertificate(NOW).fingerprint);
});
