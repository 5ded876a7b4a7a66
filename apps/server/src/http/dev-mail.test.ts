import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { eventually } from '../../testkit/kit/eventually.ts';
import { startService } from '../../testkit/kit/service.ts';

test('[DEV-1] development mode shows the mail it would have sent, as a page and as JSON', async () => {
  const service = await startService();
  try {
    await service.as().call('register', { body: { email: 'a&b@example.com', password: 'long enough' } });
    const mail = await eventually(async () => {
      const messages = (await (await service.fetch('/dev/mail.json')).json()) as Record<string, string>[];
      assert.ok(messages.length > 0);
      return messages;
    });
    assert.deepEqual(Object.keys(mail[0] ?? {}).sort(), ['createdAt', 'html', 'subject', 'text', 'to']);
    const page = await (await service.fetch('/dev/mail')).text();
    assert.ok(page.includes('a&amp;b@example.com') && !page.includes('a&b@'));
  } finally {
    await service.stop();
  }
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
