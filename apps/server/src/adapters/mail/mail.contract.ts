import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { Mail, MailMessage } from '../../core/ports.ts';

/** `received` are the messages that arrived, newest first. */
export function mailContract(
  name: string,
  open: () => Promise<{ mail: Mail; received: () => MailMessage[]; close(): Promise<void> }>,
): void {
  let opened: Awaited<ReturnType<typeof open>>;
  before(async () => {
    opened = await open();
  });
  after(() => opened.close());

  const letter = {
    to: 'ada@example.com',
    subject: 'Überraschung – ✓',
    text: 'Hello Ada,\n\nhttps://example.com/?token=abc_123-x\n',
    html: '<p>Hello <b>Ada</b> – ✓</p>',
  };

  test(`[MAIL-1] ${name}: a letter arrives as it was written`, async () => {
    const { mail, received } = opened;
    await mail.send(letter);
    await eventually(() => {
      const [newest] = received();
      assert.ok(newest);
      const { to, subject, text, html } = newest;
      assert.deepEqual({ to, subject, text, html }, letter);
    });
  });

  test(`[MAIL-1] ${name}: messages at once all arrive`, async () => {
    const { mail, received } = opened;
    const people = Array.from({ length: 10 }, (_, i) => `person${i}@example.com`);
    await Promise.all(people.map((to) => mail.send({ ...letter, to })));
    await eventually(() => {
      const recipients = received().map(({ to }) => to);
      assert.deepEqual(
        people.filter((person) => !recipients.includes(person)),
        [],
      );
    });
  });

  test(`[MAIL-1] ${name}: ping measures the round trip to the server, or null without one`, async () => {
    const roundTrip = await opened.mail.ping();
    assert.ok(name === 'mailbox' ? roundTrip === null : Number(roundTrip) >= 0);
  });
}
