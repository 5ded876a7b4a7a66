import { SecondFactorNotice } from '../accounts/factors/second-factor-notice.tsx';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { askFor, useProject } from '../frame/project.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { useToast } from '../kit/toast.tsx';
import { useStoreProject } from './store-project.ts';
import { t } from './texts.ts';

/** Whether members open the project with a second factor only. */
export function SecurityPanel() {
  const api = useApi();
  const toast = useToast();
  const store = useStoreProject();
  const { project, may } = useProject();
  const { requireSecondFactor: isRequired } = project;
  const change = useAction(
    () => api.call('updateProjectSecurity', { projectId: project.id, body: { requireSecondFactor: !isRequired } }),
    {
      onDone: (changed) => {
        store(changed);
        toast(t(changed.requireSecondFactor ? 'projects.nowRequired' : 'projects.noLongerRequired'));
      },
    },
  );
  return (
    <section className="panel stack" aria-labelledby="security">
      <h2 id="security">{t('projects.twoFactor')}</h2>
      <p className="row">
        {isRequired ? (
          <Badge tone="ok">{t('projects.required')}</Badge>
        ) : (
          <Badge shape="ring">{t('projects.notRequired')}</Badge>
        )}
        <span className="muted">{t(isRequired ? 'projects.requiredExplained' : 'projects.notRequiredExplained')}</span>
      </p>
      {change.failure &&
        (change.failure.code === 'SVC_PROJECT_REQUIRES_SECOND_FACTOR' ? (
          <SecondFactorNotice failure={change.failure} onRetry={() => void change.run(undefined)} />
        ) : (
          <ErrorNotice failure={change.failure} />
        ))}
      <div className="row">
        <Button
          isBusy={change.isBusy}
          disabled={!may('project:secure') || project.status === 'ARCHIVED'}
          title={may('project:secure') ? undefined : askFor('project:secure')}
          onClick={() => void change.run(undefined)}
        >
          {t(isRequired ? 'projects.stopRequiring' : 'projects.requireSecond')}
        </Button>
      </div>
    </section>
  );
}
