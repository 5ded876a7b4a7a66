import type { Keyring } from '../../core/keyring.ts';
import type { WebPushMaker } from '../../core/ports.ts';
import { policyFor, type Sender, type UrlRules } from '../webhooks/index.ts';
import { keptSeconds } from './notification.ts';
import type { Settings } from './settings.ts';
import { isBusy, type Transport } from './transport.ts';

interface WebPushDeps {
  maker: WebPushMaker;
  sender: Sender;
  keyring: Keyring;
  rules: UrlRules;
  settings: Pick<Settings, 'subjectOf'>;
}

const gone = new Set([404, 410]);

/** RFC 8030, with the encryption of RFC 8291 and the sender's proof of RFC 8292. The endpoint is a user's: it is guarded as webhooks are. */
export function createWebPush({ maker, sender, keyring, rules, settings }: WebPushDeps): Transport<'WEB_PUSH'> {
  return {
    async send({ address, notification, environment, settings: row }) {
      const { collapseId, title, body, data } = notification;
      const request = await maker.requestOf({
        ...address,
        payload: JSON.stringify({ title, ...(body === null ? {} : { body }), ...data }),
        topic: collapseId,
        ttlSeconds: keptSeconds,
        vapid: {
          subject: settings.subjectOf(row),
          publicKey: row.vapidPublic,
          privateKey: keyring.unseal(row.vapidSealed),
        },
      });
      const policy = policyFor(environment, rules);
      const { statusCode, error, retryAfter } = await sender.send({ url: address.endpoint, policy, ...request });
      if (statusCode !== null && gone.has(statusCode)) return { is: 'GONE' };
      if (error === null) return { is: 'SENT' };
      if (statusCode !== null && !isBusy(statusCode)) return { is: 'REFUSED', why: error };
      return { is: 'BUSY', why: error, afterMs: retryAfter };
    },
    close: () => sender.close(),
  };
}
