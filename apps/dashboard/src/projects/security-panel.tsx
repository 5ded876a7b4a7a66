import { SecondFactorNotice } from '../accounts/factors/second-factor-notice.tsx';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { askFor, useProject } from '../frame/project.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { useToast } from '../kit/toast.tsx';
import { useStoreProject } from './store-project.ts';

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
        toast(changed.requireSecondFactor ? 'A second factor is required' : 'A second factor is no longer required');
      },
    },
  );
  return (
    <section className="panel stack" aria-labelledby="security">
      <h2 id="security">Two-factor sign-in</h2>
      <p className="row">
        {isRequired ? <Badge tone="ok">Required</Badge> : <Badge shape="ring">Not required</Badge>}
        <span className="muted">
          {isRequired
            ? 'Members open this project only after signing in with a second factor.'
            : 'Members open this project with or without a second factor.'}
        </span>
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
          {isRequired ? 'Stop requiring it' : 'Require a second factor'}
        </Button>
      </div>
    </section>
  );
}
