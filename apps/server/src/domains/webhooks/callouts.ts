import type { Environment } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Sender } from './sender.ts';
import { bodyOf, type Envelope, hintOf, newSecret, signatureHeaders, signingKey } from './signing.ts';
import { checkWebhookUrl, policyFor, type UrlRules } from './url-check.ts';

interface CalloutDeps {
  clock: Clock;
  keyring: Keyring;
  sender: Sender;
  rules: UrlRules;
}

/** A question to a customer's backend, signed and guarded like a delivery, that is not repeated. */
interface Callout extends Envelope {
  url: string;
  /** JSON. */
  data: string;
  sealedSecrets: readonly string[];
  timeoutMs: number;
}

/** For other domains that ask and wait for the answer. */
export type Callouts = ReturnType<typeof createCallouts>;

export function createCallouts({ clock, keyring, sender, rules }: CalloutDeps) {
  return {
    /** SVC_INVALID_WEBHOOK_URL for what webhooks may not reach. */
    checkUrl: (url: string, environment: Environment): void => checkWebhookUrl(url, environment, rules),

    makeSecret(): { secret: string; sealed: string; hint: string } {
      const secret = newSecret();
      return { secret, sealed: keyring.seal(secret), hint: hintOf(secret) };
    },

    hintOf: (sealed: string): string => hintOf(keyring.unseal(sealed)),

    /** The whole answer of a 2xx; null for anything else. */
    async ask({ url, data, sealedSecrets, timeoutMs, ...envelope }: Callout): Promise<string | null> {
      const body = bodyOf(envelope, data);
      const keys = sealedSecrets.map((sealed) => signingKey(keyring.unseal(sealed)));
      const { isDelivered, answer } = await sender.send({
        url,
        body,
        policy: policyFor(envelope.environment, rules),
        timeoutMs,
        keepsAnswer: true,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'svc-webhooks/1',
          'svc-event-id': envelope.id,
          ...signatureHeaders(keys, envelope.id, body, clock.now()),
        },
      });
      return isDelivered ? (answer ?? null) : null;
    },
  };
}
