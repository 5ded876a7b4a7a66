import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { chatOverviewQuery } from '../chat/queries.ts';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Snippet } from '../kit/copy.tsx';
import { CheckIcon } from '../kit/icons.tsx';
import { metricsQuery } from '../observability/queries.ts';
import { roomKeys } from '../rooms/queries.ts';
import { webhookKeys } from '../webhooks/queries.ts';
import { projectKeys } from './queries.ts';

interface Step {
  label: string;
  href: string;
  /** Undefined while it is not known. */
  isDone: boolean | undefined;
}

/** The empty project's first steps; each ticks itself from what the project holds, and the list goes when all are done. */
export function SetupChecklist() {
  const { may } = useProject();
  const steps = useSteps();
  if (!may('api_key:read') || steps.some(({ isDone }) => isDone === undefined)) return null;
  if (steps.every(({ isDone }) => isDone)) return null;
  const code = `curl -s -X POST ${location.origin}/v1/rooms \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"name":"standup"}'`;
  return (
    <section className="panel stack" aria-labelledby="setup">
      <h2 id="setup">{t('overview.getStarted')}</h2>
      <ol className="checklist">
        {steps.map(({ label, href, isDone }) => (
          <li key={label} data-done={isDone}>
            <span className="check-mark" aria-hidden="true">
              {isDone && <CheckIcon />}
            </span>
            <Link href={href}>{label}</Link>
            <span className="muted">{isDone ? t('kit.done') : t('overview.toDo')}</span>
          </li>
        ))}
      </ol>
      <Snippet label={t('overview.firstRoom')} code={code} />
    </section>
  );
}

function useSteps(): Step[] {
  const api = useApi();
  const { project, environment, may, to } = useProject();
  const keys = useQuery({
    queryKey: [...projectKeys.apiKeys(project.id), 'any'],
    queryFn: () => api.call('listApiKeys', { projectId: project.id, query: { limit: 200 } }),
    enabled: may('api_key:read'),
    refetchInterval: pollUnlessFed,
  });
  const rooms = useQuery({
    queryKey: [...roomKeys.list(project.id, environment), 'any'],
    queryFn: () => api.call('listProjectRooms', { projectId: project.id, query: { environment, limit: 1 } }),
    refetchInterval: pollUnlessFed,
  });
  const metrics = useQuery(metricsQuery(api, project.id, environment));
  const chat = useQuery(chatOverviewQuery(api, project.id, environment));
  const webhooks = useQuery({
    queryKey: [...webhookKeys.list(project.id, environment), 'any'],
    queryFn: () => api.call('listWebhooks', { projectId: project.id, query: { environment, limit: 200 } }),
    refetchInterval: pollUnlessFed,
  });
  // Metrics are of a day: who met before that is among the connections, which stay for weeks.
  const met = useQuery({
    queryKey: ['project', project.id, 'connections', environment, 'any'],
    queryFn: () => api.call('listProjectConnections', { projectId: project.id, query: { environment, limit: 50 } }),
    refetchInterval: pollUnlessFed,
  });
  const hasMet =
    metrics.data && met.data
      ? metrics.data.connections.succeeded > 0 || met.data.some(({ connectedAt }) => connectedAt !== null)
      : undefined;
  return [
    {
      label: t('overview.stepKey'),
      href: to('api-keys'),
      isDone: keys.data?.some((key) => key.environment === environment && key.status === 'ACTIVE'),
    },
    // Rooms close; a past participant proves that there was one.
    {
      label: t('overview.stepRoom'),
      href: to('rooms'),
      isDone: rooms.data && (rooms.data.length > 0 || hasMet === true),
    },
    { label: t('overview.stepJoin'), href: to('connections'), isDone: hasMet },
    { label: t('overview.stepMessage'), href: to('chat'), isDone: chat.data && chat.data.messages.total > 0 },
    {
      label: t('overview.stepWebhook'),
      href: to('webhooks'),
      isDone: webhooks.data?.some(({ lastDeliveryAt }) => lastDeliveryAt !== null),
    },
  ];
}
