import type { Alert } from '@parley/contract';
import { escapeHtml } from '@parley/page-build/html';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { type Turn, withoutDeadline } from '../../core/delete-in-batches.ts';
import type { Log } from '../../core/log.ts';
import type { Mail } from '../../core/ports.ts';
import { type AlertMail, claimMail, deleteMail } from './mail-store.ts';
import { conditionOf, foundOf } from './words.ts';

export interface AlertMailDeps {
  db: Db;
  clock: Clock;
  log: Log;
  mail: Mail;
  publicUrl: string;
  /** Addresses of those who are in the project now. */
  memberEmails: (projectId: string) => Promise<string[]>;
}

/** What a mail is held for while it is sent; doubled with each attempt. */
const retryMs = 60_000;
const keptMs = 24 * 60 * 60 * 1000;

/** Sends what was queued. After a kill in between a mail goes out again, with the same Message-ID. */
export function createAlertMails({ db, clock, log, mail, publicUrl, memberEmails }: AlertMailDeps) {
  const { hostname } = new URL(publicUrl);

  async function send(one: AlertMail): Promise<void> {
    if (Date.parse(one.createdAt) < clock.now() - keptMs) {
      log.error({ alertId: one.alertId }, 'the mail of an alert was given up');
    } else if ((await memberEmails(one.projectId)).includes(one.email)) {
      const html = `<!doctype html><html lang="en"><body><p>${escapeHtml(one.body).replaceAll('\n\n', '</p><p>')}</p></body></html>`;
      const messageId = `<${one.id}@${hostname}>`;
      await mail.send({ to: one.email, subject: one.subject, text: `${one.body}\n`, html, messageId });
    }
    await deleteMail(db, one.id);
  }

  // One by one: with a slow mail server, others that were taken along would be due again before their turn.
  return async (turn: Turn = withoutDeadline): Promise<void> => {
    while (!turn.isOver()) {
      const one = await claimMail(db, iso(clock.now()), retryMs);
      if (!one) return;
      await send(one).catch((error) => log.warn({ error, alertId: one.alertId }, 'the mail of an alert was not sent'));
    }
  };
}

/** What members are told. */
export function mailOf(
  alert: Alert,
  tells: 'firing' | 'resolved',
  { projectName, publicUrl, at }: { projectName: string; publicUrl: string; at: string },
): Pick<AlertMail, 'subject' | 'body'> {
  const link = `${publicUrl.replace(/\/+$/, '')}/p/${alert.projectId}/alerts?env=${alert.environment.toLowerCase()}`;
  const verb = tells === 'firing' ? 'is firing' : 'has ended';
  return {
    subject: `${tells === 'firing' ? 'Alert' : 'Resolved'}: ${alert.name} (${projectName})`,
    body: [
      `${alert.name} ${verb} in ${projectName}, ${alert.environment.toLowerCase()}, since ${at}.`,
      `It waits for: ${conditionOf(alert)}. Found: ${foundOf(alert)}.`,
      link,
    ].join('\n\n'),
  };
}
