import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { Snippet } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Checkbox } from '../kit/field.tsx';

/** A link for support: it opens without signing in, for a day. */
export function ShareDialog({ callId, onClose }: { callId: string; onClose: () => void }) {
  const api = useApi();
  const { project, environment } = useProject();
  const [withoutNames, setWithoutNames] = useState(true);
  const [url, setUrl] = useState<string | null>(null);
  const share = useAction(
    () => api.call('shareCall', { projectId: project.id, callId, query: { environment }, body: { withoutNames } }),
    { onDone: (made) => setUrl(made.url) },
  );
  return (
    <Dialog title={t('calls.shareThis')} onClose={onClose}>
      <p>{t('calls.shareExplained')}</p>
      {url === null ? (
        <>
          <Checkbox
            label={t('calls.withoutNames')}
            checked={withoutNames}
            onChange={(event) => setWithoutNames(event.target.checked)}
          />
          {share.failure && <ErrorNotice failure={share.failure} />}
          <div className="dialog-actions">
            <Button onClick={onClose}>{t('kit.cancel')}</Button>
            <Button variant="primary" isBusy={share.isBusy} onClick={() => void share.run(undefined)}>
              {t('calls.makeLink')}
            </Button>
          </div>
        </>
      ) : (
        <Snippet label={t('calls.link')} code={url} />
      )}
    </Dialog>
  );
}
