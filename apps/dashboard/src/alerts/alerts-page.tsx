import type { Alert } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { ListPage } from '../frame/list-page.tsx';
import { askFor, type CurrentProject, useProject } from '../frame/project.tsx';
import { useFilter } from '../frame/url.ts';
import { environmentName } from '../i18n/names.ts';
import { Button } from '../kit/button.tsx';
import { SelectField } from '../kit/field.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import type { Column } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { AlertDialog } from './alert-dialog.tsx';
import { alertKeys } from './queries.ts';
import { t } from './texts.ts';
import { AlertBadge, conditionWords, Found, stateLabels, toldWords } from './words.tsx';

const states = Object.keys(stateLabels) as Alert['state'][];

export default function AlertsPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment, may } = current;
  const [isCreating, setCreating] = useState(false);
  const [text, setState] = useFilter('state');
  const state = states.find((one) => one === text);
  const query = usePaged(alertKeys.list(project.id, environment, state ?? ''), (page, signal) =>
    api.request(
      'listProjectAlerts',
      { projectId: project.id, query: { environment, ...page, ...(state ? { state } : {}) } },
      { signal },
    ),
  );
  const mayManage = may('alert:manage') && project.status === 'ACTIVE';
  const create = (
    <Button
      variant="primary"
      icon={<PlusIcon />}
      disabled={!mayManage}
      title={mayManage ? undefined : askFor('alert:manage')}
      onClick={() => setCreating(true)}
    >
      {t('alerts.new')}
    </Button>
  );
  return (
    <>
      <ListPage
        title={t('page.alerts')}
        lead={t('alerts.lead')}
        actions={create}
        query={query}
        caption={t('alerts.caption', { environment: environmentName(environment) })}
        columns={columns(current)}
        keyOf={({ id }) => id}
        copyOf={({ id }) => id}
        filters={
          <SelectField
            label={t('words.state')}
            value={state ?? ''}
            options={[
              { value: '', label: t('alerts.everyState') },
              ...states.map((value) => ({ value, label: t(stateLabels[value]) })),
            ]}
            onChange={(event) => setState(event.target.value)}
          />
        }
        onClear={state ? () => setState('') : undefined}
        empty={{
          title: t('alerts.none', { environment: environmentName(environment) }),
          noMatch: t('alerts.noMatch'),
          children: <p>{t('alerts.whatIs')}</p>,
        }}
      />
      {isCreating && <AlertDialog onClose={() => setCreating(false)} />}
    </>
  );
}

function columns({ to }: CurrentProject): readonly Column<Alert>[] {
  return [
    {
      head: t('alerts.alert'),
      width: '36%',
      cell: (alert) => (
        <span className="two-lines">
          <Link className="row-link" href={to(`alerts/${alert.id}`)}>
            {alert.name}
          </Link>
          <span className="muted">{conditionWords(alert)}</span>
        </span>
      ),
    },
    { head: t('words.state'), cell: ({ state }) => <AlertBadge state={state} /> },
    { head: t('alerts.since'), cell: ({ since }) => <Ago at={since} /> },
    { head: t('alerts.foundLast'), cell: (alert) => <Found alert={alert} /> },
    { head: t('alerts.tells'), cell: toldWords },
  ];
}
