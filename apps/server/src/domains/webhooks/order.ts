import type { Keyring } from '../../core/keyring.ts';
import type { ClaimedDelivery } from './queue-store.ts';
import type { SendOrder } from './sender.ts';
import { bodyOf, type SigningKey, signatureHeaders, signingKey } from './signing.ts';
import { policyFor, type UrlRules } from './url-check.ts';

/** The request of one attempt. */
export type OrderOf = (delivery: ClaimedDelivery, nowMs: number) => SendOrder;

const keptMax = 2_000;

export function createOrderOf({ keyring, rules }: { keyring: Keyring; rules: UrlRules }): OrderOf {
  // By sealed text: a changed secret is another text, so nothing here is ever stale.
  const keys = new Map<string, SigningKey>();
  const headers = new Map<string, Record<string, string>>();

  function keep<V>(kept: Map<string, V>, sealed: string, open: (text: string) => V): V {
    const known = kept.get(sealed);
    if (known !== undefined) return known;
    if (kept.size >= keptMax) kept.clear();
    const opened = open(keyring.unseal(sealed));
    kept.set(sealed, opened);
    return opened;
  }

  function keysOf(delivery: ClaimedDelivery, nowMs: number): SigningKey[] {
    const { secretSealed, previousSecretSealed, previousSecretExpiresAt } = delivery.endpoint;
    const isOverlap = previousSecretExpiresAt !== null && Date.parse(previousSecretExpiresAt) > nowMs;
    const sealed = previousSecretSealed !== null && isOverlap ? [secretSealed, previousSecretSealed] : [secretSealed];
    return sealed.map((text) => keep(keys, text, signingKey));
  }

  return (delivery, nowMs) => {
    const { id, eventId, attempt, testBody, event } = delivery;
    const { projectId, environment, url, headersSealed } = delivery.endpoint;
    const envelope = { id: eventId, type: delivery.eventType, projectId, environment, createdAt: event.createdAt };
    const body = testBody === null ? bodyOf(envelope, event.data ?? '{}') : Buffer.from(testBody);
    const own: Record<string, string> =
      headersSealed === null ? {} : keep(headers, headersSealed, (text) => JSON.parse(text));
    return {
      url,
      body,
      policy: policyFor(environment, rules),
      secrets: Object.values(own),
      headers: {
        ...own,
        'content-type': 'application/json',
        'user-agent': 'svc-webhooks/1',
        'svc-event-id': eventId,
        'svc-delivery-id': id,
        'svc-attempt': String(attempt),
        ...signatureHeaders(keysOf(delivery, nowMs), eventId, body, nowMs),
      },
    };
  };
}
