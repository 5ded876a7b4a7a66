import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { startSmtpServer } from '../../../testkit/peers/smtp-server.ts';
import { mailContract } from './mail.contract.ts';
import { createMailbox } from './mailbox.ts';
import { createSmtpMail } from './smtp.ts';

suite('mailbox', () =>
  mailContract('mailbox', async () => {
    const mailbox = createMailbox(createFakeClock());
    return { mail: mailbox, received: mailbox.list, close: mailbox.close };
  }));

suite('smtp', () =>
  mailContract('smtp', async () => {
    const server = await startSmtpServer();
    const mail = createSmtpMail({ url: server.url, from: 'Parley <no-reply@example.com>' });
    return {
      mail,
      received: server.messages,
      async close() {
        await mail.close();
        await server.close();
      },
    };
  }));

const letter = { to: 'ada@example.com', subject: 's', text: 't', html: 'h' };

test('[MAIL-2] the mailbox keeps the newest messages only, newest first, with their time', async () => {
  const clock = createFakeClock(0);
  const mailbox = createMailbox(clock);
  for (let i = 0; i < 250; i += 1) {
    clock.jump(1_000);
    await mailbox.send({ ...letter, subject: String(i) });
  }
  const messages = mailbox.list();
  assert.equal(messages.length, 200);
  assert.equal(messages[0]?.subject, '249');
  assert.equal(messages[0]?.createdAt, '1970-01-01T00:04:10.000Z');
  assert.equal(messages.at(-1)?.subject, '50');
});

test('[MAIL-3] smtp: an address cannot smuggle in another recipient or a header', async (t) => {
  const server = await startSmtpServer();
  const mail = createSmtpMail({ url: server.url, from: 'no-reply@example.com' });
  t.after(mail.close);
  t.after(server.close);
  await mail.send({ ...letter, to: 'ada@example.com, eve@example.com' }).catch(() => {});
  await mail.send({ ...letter, to: 'ada@example.com\r\nBcc: eve@example.com' }).catch(() => {});
  await mail.send({ ...letter, subject: 'x\r\nBcc: eve@example.com' });
  assert.equal(server.recipients().filter((address) => address === 'eve@example.com').length, 0);
  assert.ok(server.recipients().includes('ada@example.com'));
});

test('[MAIL-3] smtp: signing in uses the user and password of the URL', async (t) => {
  const server = await startSmtpServer({ user: 'me@example.com', password: 'p@ss/word' });
  const url = server.url.replace(
    'smtp://',
    `smtp://${encodeURIComponent('me@example.com')}:${encodeURIComponent('p@ss/word')}@`,
  );
  const mail = createSmtpMail({ url, from: 'no-reply@example.com' });
  t.after(mail.close);
  await mail.send(letter);
  assert.equal(server.messages().length, 1);
  const wrong = createSmtpMail({ url: url.replace('word@', 'wrong@'), from: 'no-reply@example.com' });
  t.after(wrong.close);
  t.after(server.close);
  await assert.rejects(wrong.send(letter), /auth/i);
});

test('[MAIL-3] smtp: without a server sending and ping fail', async (t) => {
  const mail = createSmtpMail({ url: 'smtp://127.0.0.1:1', from: 'no-reply@example.com' });
  t.after(mail.close);
  await assert.rejects(mail.send(letter));
  await assert.rejects(mail.ping());
});

test('[MAIL-4] where TLS is required, a server without it gets no letter', async () => {
  const server = await startSmtpServer();
  const mail = createSmtpMail({ url: server.url, from: 'Parley <no-reply@example.com>', requiresTls: true });
  await assert.rejects(mail.send(letter));
  assert.deepEqual(server.messages(), []);
  await mail.close();
  await server.close();
});
