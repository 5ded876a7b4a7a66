import type { NewWebhook } from '@parley/contract';
import { t, withNodes } from '../i18n/t.ts';
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
      title={t('webhooks.signingSecret')}
      secret={webhook.secret}
      secretLabel={t('webhooks.secret')}
      copies={[[t('webhooks.copyEnv'), `SVC_WEBHOOK_SECRET=${webhook.secret}`]]}
      onClose={onClose}
    >
      <p>{withNodes('webhooks.signedWith', { url: <strong className="url">{webhook.url}</strong> })}</p>
      <details>
        <summary>{t('webhooks.howToVerify')}</summary>
        <Snippet label={t('webhooks.node')} code={verify} />
      </details>
    </SecretDialog>
  );
}
