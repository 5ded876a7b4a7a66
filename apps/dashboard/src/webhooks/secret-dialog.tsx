import type { NewWebhook } from '@parley/contract';
import { Snippet } from '../kit/copy.tsx';
import { SecretDialog } from '../kit/secret-dialog.tsx';

const verify = `import { createHmac, timingSafeEqual } from 'node:crypto';

// svc-signature: t=<seconds>,v1=<hex>[,v1=<hex>]; the body as it arrived, before any parsing.
export function isGenuine(header, rawBody, secret) {
  const pairs = header.split(',').map((part) => part.split('='));
  const t = pairs.find(([name]) => name === 't')?.[1] ?? '';
  if (Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const expected = createHmac('sha256', secret).update(t + '.').update(rawBody).digest();
  return pairs.some(([name, hex]) => {
    const given = Buffer.from(hex ?? '', 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}`;

/** The only sight of a signing secret. */
export function WebhookSecretDialog({ webhook, onClose }: { webhook: NewWebhook; onClose: () => void }) {
  return (
    <SecretDialog
      title="Signing secret"
      secret={webhook.secret}
      secretLabel="secret"
      copies={[['Copy .env line', `SVC_WEBHOOK_SECRET=${webhook.secret}`]]}
      onClose={onClose}
    >
      <p>
        Every delivery to <strong className="url">{webhook.url}</strong> is signed with it. It is not shown again.
      </p>
      <details>
        <summary>How to verify a delivery</summary>
        <Snippet label="Node" code={verify} />
      </details>
    </SecretDialog>
  );
}
