import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { bodyOf, newSecret, signatureHeaders, signingKey } from './signing.ts';

test("[WH-1] the Standard Webhooks signature of the standard's own example comes out", () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
  const headers = signatureHeaders([signingKey(secret)], id, Buffer.from('{"test": 2432232314}'), 1_614_265_330_999);
  assert.deepEqual(
    [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']],
    [id, '1614265330', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
  );
});

test('[WH-1] svc-signature is what openssl says, keyed with the whole text of the secret', () => {
  const secret = newSecret();
  const envelope = { id: 'evt_1', type: 't', projectId: 'p', environment: 'PRODUCTION', createdAt: 'c' } as const;
  const body = bodyOf(envelope, '{"text":"héllo \u{1f600}"}');
  assert.deepEqual(JSON.parse(body.toString()), { ...envelope, data: { text: 'héllo \u{1f600}' } });
  const input = Buffer.concat([Buffer.from('1614265330.'), body]);
  const printed = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret], { input }).toString();
  const { 'svc-signature': header } = signatureHeaders([signingKey(secret)], 'evt_1', body, 1_614_265_330_000);
  assert.equal(header, `t=1614265330,v1=${/([0-9a-f]{64})/.exec(printed)?.[1]}`);
});
