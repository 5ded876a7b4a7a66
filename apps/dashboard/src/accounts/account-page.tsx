import { useQuery } from '@tanstack/react-query';
import { useApi, useServices, useUser } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { Page } from '../frame/page.tsx';
import { type Preferences, setPreference, usePreferences } from '../frame/preferences.ts';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
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
    <Page title={t('frame.account')} query={sessions}>
      <div className="columns">
        <section className="panel stack" aria-labelledby="profile">
          <h2 id="profile">{t('accounts.profile')}</h2>
          <dl className="facts">
            <div>
              <dt>{t('accounts.name')}</dt>
              <dd>{user.name ?? <span className="no-data">{t('accounts.notGiven')}</span>}</dd>
            </div>
            <div>
              <dt>{t('accounts.email')}</dt>
              <dd>
                {user.email}{' '}
                {user.emailVerified ? (
                  <Badge tone="ok">{t('accounts.verified')}</Badge>
                ) : (
                  <Badge tone="warn" shape="ring">
                    {t('accounts.notVerified')}
                  </Badge>
                )}
              </dd>
            </div>
            <div>
              <dt>{t('accounts.since')}</dt>
              <dd>
                <Time at={user.createdAt} />
              </dd>
            </div>
            <div>
              <dt>{t('accounts.instance')}</dt>
              <dd>{t(user.isOperator ? 'accounts.operator' : 'accounts.member')}</dd>
            </div>
          </dl>
          <Security email={user.email} />
        </section>
        <section className="panel stack" aria-labelledby="password">
          <h2 id="password">{t('accounts.password')}</h2>
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
    onDone: () => toast(t('accounts.linkOnItsWay')),
  });
  const signOut = useAction(() => session.signOut());
  const failure = reset.failure ?? signOut.failure;
  return (
    <div className="stack">
      <p className="muted">{t('accounts.forgotOrNone')}</p>
      {failure && <ErrorNotice failure={failure} />}
      <div className="row">
        <Button
          isBusy={reset.isBusy}
          waitSeconds={reset.failure?.retryAfterSeconds ?? null}
          onClick={() => reset.run(undefined)}
        >
          {t('accounts.mailMe')}
        </Button>
        <Button isBusy={signOut.isBusy} onClick={() => signOut.run(undefined)}>
          {t('frame.signOut')}
        </Button>
      </div>
    </div>
  );
}

type Choice = readonly [
  name: 'theme' | 'density' | 'timeZone' | 'shortcuts',
  label: PlainKey,
  options: Readonly<Record<string, PlainKey>>,
];

const choices: readonly Choice[] = [
  ['theme', 'accounts.theme', { system: 'accounts.asSystem', light: 'accounts.light', dark: 'accounts.dark' }],
  ['density', 'accounts.tableRows', { comfortable: 'accounts.comfortable', dense: 'accounts.dense' }],
  ['timeZone', 'accounts.times', { local: 'accounts.localTime', utc: 'accounts.utc' }],
  ['shortcuts', 'accounts.letterShortcuts', { on: 'accounts.on', off: 'accounts.off' }],
];

function PreferencesPanel() {
  const chosen = usePreferences();
  return (
    <section className="panel stack" aria-labelledby="preferences">
      <h2 id="preferences">{t('accounts.preferences')}</h2>
      <p className="muted">{t('accounts.keptHere')}</p>
      {choices.map(([name, label, options]) => (
        <SelectField
          key={name}
          label={t(label)}
          value={chosen[name]}
          options={Object.entries(options).map(([value, word]) => ({ value, label: t(word) }))}
          // The options are exactly the values that the preference takes.
          onChange={(event) => setPreference(name, event.target.value as Preferences[typeof name])}
        />
      ))}
    </section>
  );
}
