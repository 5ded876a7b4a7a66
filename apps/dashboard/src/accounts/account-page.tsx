import { useQuery } from '@tanstack/react-query';
import { useApi, useServices, useUser } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { Page } from '../frame/page.tsx';
import { type Preferences, setPreference, usePreferences } from '../frame/preferences.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SelectField } from '../kit/field.tsx';
import { Time } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { ChangePassword } from './change-password.tsx';
import { TwoFactorPanel } from './factors/two-factor-panel.tsx';
import { SecurityPanel } from './security-panel.tsx';
import { SessionsPanel, sessionsQuery } from './sessions-panel.tsx';

export default function AccountPage() {
  const user = useUser();
  const sessions = useQuery(sessionsQuery(useApi()));
  return (
    <Page title="Account" query={sessions}>
      <div className="columns">
        <section className="panel stack" aria-labelledby="profile">
          <h2 id="profile">Profile</h2>
          <dl className="facts">
            <div>
              <dt>Name</dt>
              <dd>{user.name ?? <span className="no-data">Not given</span>}</dd>
            </div>
            <div>
              <dt>E-mail</dt>
              <dd>
                {user.email}{' '}
                {user.emailVerified ? (
                  <Badge tone="ok">Verified</Badge>
                ) : (
                  <Badge tone="warn" shape="ring">
                    Not verified
                  </Badge>
                )}
              </dd>
            </div>
            <div>
              <dt>Since</dt>
              <dd>
                <Time at={user.createdAt} />
              </dd>
            </div>
            <div>
              <dt>Instance</dt>
              <dd>{user.isOperator ? 'Operator: may drain media nodes' : 'Member'}</dd>
            </div>
          </dl>
          <Security email={user.email} />
        </section>
        <section className="panel stack" aria-labelledby="password">
          <h2 id="password">Password</h2>
          <ChangePassword onDone={() => void sessions.refetch()} />
        </section>
        <TwoFactorPanel />
        <PreferencesPanel />
      </div>
      <SessionsPanel query={sessions} />
      <SecurityPanel />
    </Page>
  );
}

function Security({ email }: { email: string }) {
  const { anonymous, session } = useServices();
  const toast = useToast();
  const reset = useAction(() => anonymous.call('requestPasswordReset', { body: { email } }), {
    onDone: () => toast('A link to set a new password is on its way.'),
  });
  const signOut = useAction(() => session.signOut());
  const failure = reset.failure ?? signOut.failure;
  return (
    <div className="stack">
      <p className="muted">Forgot your password, or have none? Set one through a link that is mailed to you.</p>
      {failure && <ErrorNotice failure={failure} />}
      <div className="row">
        <Button
          isBusy={reset.isBusy}
          waitSeconds={reset.failure?.retryAfterSeconds ?? null}
          onClick={() => reset.run(undefined)}
        >
          Mail me a password link
        </Button>
        <Button isBusy={signOut.isBusy} onClick={() => signOut.run(undefined)}>
          Sign out
        </Button>
      </div>
    </div>
  );
}

const choices = [
  ['theme', 'Theme', { system: 'As the system', light: 'Light', dark: 'Dark' }],
  ['density', 'Table rows', { comfortable: 'Comfortable', dense: 'Dense' }],
  ['timeZone', 'Times', { local: 'Local time', utc: 'UTC' }],
  ['shortcuts', 'Single-letter shortcuts', { on: 'On', off: 'Off' }],
] as const;

function PreferencesPanel() {
  const chosen = usePreferences();
  return (
    <section className="panel stack" aria-labelledby="preferences">
      <h2 id="preferences">Preferences</h2>
      <p className="muted">Kept in this browser.</p>
      {choices.map(([name, label, labels]) => (
        <SelectField
          key={name}
          label={label}
          value={chosen[name]}
          options={Object.entries(labels).map(([value, text]) => ({ value, label: text }))}
          // The options are exactly the values that the preference takes.
          onChange={(event) => setPreference(name, event.target.value as Preferences[typeof name])}
        />
      ))}
    </section>
  );
}
