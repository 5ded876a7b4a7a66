import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { useApi } from '../data/services.tsx';
import { projectPath, useEnvironment, useFilter } from '../frame/url.ts';
import { t } from '../i18n/t.ts';
import { Segments } from '../kit/field.tsx';
import { CheckIcon, ChevronIcon } from '../kit/icons.tsx';
import { Popover } from '../kit/popover.tsx';
import { projectsQuery } from './queries.ts';

export function ProjectSwitcher({ projectId }: { projectId: string }) {
  const { data = [] } = useQuery(projectsQuery(useApi()));
  const environment = useEnvironment();
  const here = data.find(({ id }) => id === projectId);
  const active = data.filter(({ status, id }) => status === 'ACTIVE' || id === projectId);
  return (
    <Popover
      buttonClass="switcher"
      button={
        <>
          <span className="visually-hidden">{t('frame.projectIs')} </span>
          <span className="switcher-name">{here?.name ?? t('frame.project')}</span>
          <ChevronIcon />
        </>
      }
      panelLabel={t('frame.projects')}
    >
      {(close) => (
        <div className="menu">
          {active.map(({ id, name }) => (
            <Link
              key={id}
              className="menu-item"
              href={projectPath(id, 'overview', environment)}
              aria-current={id === projectId ? 'true' : undefined}
              onClick={close}
            >
              <span className="menu-text">{name}</span>
              {id === projectId && <CheckIcon />}
            </Link>
          ))}
          <Link className="menu-item menu-item-last" href="/projects" onClick={close}>
            {t('frame.allProjects')}
          </Link>
        </div>
      )}
    </Popover>
  );
}

const environments = () =>
  [
    { value: 'development', label: t('frame.development'), short: t('frame.developmentShort') },
    { value: 'production', label: t('frame.production'), short: t('frame.productionShort'), tone: 'warn' },
  ] as const;

/** A room of the other environment is another room: what a detail page shows does not follow the switch. */
export function EnvironmentToggle() {
  const environment = useEnvironment();
  const [, setEnvironment] = useFilter('env');
  const [path, navigate] = useLocation();
  const [, , projectId = '', page = 'overview', ...detail] = path.split('/');
  return (
    <Segments
      label={t('frame.environment')}
      value={environment === 'PRODUCTION' ? 'production' : 'development'}
      options={environments()}
      onChange={(value) => {
        if (detail.length === 0) setEnvironment(value);
        else navigate(projectPath(projectId, page, value === 'production' ? 'PRODUCTION' : 'DEVELOPMENT'));
      }}
    />
  );
}
