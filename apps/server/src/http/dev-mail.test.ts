import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createVisitor, newEmail } from '../../testkit/clients/visitor.ts';
import { eventually } from '../../testkit/kit/eventually.ts';
import { startService } from '../../testkit/kit/service.ts';
import { sharedService } from '../../testkit/kit/shared-service.ts';

test('[DEV-1] development mode shows the mail it would have sent, as a page and as JSON', async () => {
  const service = await sharedService();
  const email = newEmail('a&b');
  await createVisitor(service).post('/v1/auth/register', { email, password: 'long enough' });
  const mail = await eventually(async () => {
    const messages = (await (await service.fetch('/dev/mail.json')).json()) as Record<string, string>[];
    return messages.find(({ to }) => to === email) ?? assert.fail('no mail');
  });
  assert.deepEqual(Object.keys(mail).sort(), ['createdAt', 'html', 'subject', 'text', 'to']);
  const page = await (await service.fetch('/dev/mail')).text();
  assert.ok(page.includes(email.replace('&', '&amp;')) && !page.includes(email));
});

test('[DEV-1] production has no development pages', async () => {
  const secret = () => randomBytes(36).toString('base64');
  const env = { NODE_ENV: 'production', SECRET_KEY: secret(), SFU_REGISTRATION_SECRET: secret() };
  const service = await startService({ env });
  try {
    for (const path of ['/dev/mail', '/dev/mail.json', '/dev/login', '/dev/events', '/dev/events.json'])
      assert.equal((await service.fetch(path)).status, 404);
  } finally {
    await service.stop();
  }
});
