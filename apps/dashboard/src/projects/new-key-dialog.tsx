import type { NewApiKey } from '@parley/contract';
import { SecretDialog } from '../kit/secret-dialog.tsx';

/** The only sight of a new key. */
export function NewKeyDialog({ created, onClose }: { created: NewApiKey; onClose: () => void }) {
  const curl = `curl -s ${location.origin}/v1/project -H "Authorization: Bearer ${created.key}"`;
  return (
    <SecretDialog
      title={`API key ${created.name}`}
      secret={created.key}
      secretLabel="API key"
      onClose={onClose}
      copies={[
        ['Copy .env line', `SVC_API_KEY=${created.key}`],
        ['Copy curl', curl],
      ]}
    >
      <p>Store it now: it is not shown again, and nobody can read it back.</p>
    </SecretDialog>
  );
}
