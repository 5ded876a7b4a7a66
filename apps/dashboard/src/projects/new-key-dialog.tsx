import type { NewApiKey } from '@parley/contract';
import { SecretDialog } from '../kit/secret-dialog.tsx';
import { t } from './texts.ts';

/** The only sight of a new key. */
export function NewKeyDialog({ created, onClose }: { created: NewApiKey; onClose: () => void }) {
  const curl = `curl -s ${location.origin}/v1/project -H "Authorization: Bearer ${created.key}"`;
  return (
    <SecretDialog
      title={t('projects.keyNamed', { name: created.name })}
      secret={created.key}
      secretLabel={t('projects.apiKey')}
      onClose={onClose}
      copies={[
        [t('projects.copyEnv'), `SVC_API_KEY=${created.key}`],
        [t('projects.copyCurl'), curl],
      ]}
    >
      <p>{t('projects.storeKeyNow')}</p>
    </SecretDialog>
  );
}
