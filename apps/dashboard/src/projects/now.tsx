import type { ConnectionMetrics, LiveStream, MetricsPoint } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { chatOverviewQuery } from '../chat/queries.ts';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { useProject } from '../frame/project.tsx';
import { t } from '../i18n/t.ts';
import { Figures } from '../kit/figure.tsx';
import { count, decimal, percent } from '../kit/numbers.ts';
import { Sparkline } from '../kit/sparkline.tsx';
import { streamKeys } from '../live-streams/queries.ts';
import { roomKeys } from '../rooms/queries.ts';

interface NowProps {
  connections: ConnectionMetrics['connections'];
  /** The last hour, step by step. */
  minutes: readonly MetricsPoint[];
  asOf: string;
}

/** What happens at this moment, and how the last hour went. */
export function Now({ connections, minutes, asOf }: NowProps) {
  const { to } = useProject();
  const rooms = useRoomsNow();
  const streams = useStreamsNow();
  const chat = useChatTotal();
  const over = (label: string, read: (point: MetricsPoint) => number) => (
    <Sparkline label={t('overview.inLastHour', { label })} values={minutes.map(read)} />
  );
  const sum = (read: (point: MetricsPoint) => number): number =>
    minutes.reduce((total, point) => total + read(point), 0);
  const failedDeliveries = sum(({ deliveries }) => deliveries.failed);
  return (
    <Figures
      label={t('overview.now')}
      figures={[
        {
          label: t('overview.roomsWithPeople'),
          value: rooms && <Link href={to('rooms')}>{rooms.busy}</Link>,
          note: rooms && t('overview.peopleAndOpen', { people: rooms.people, all: rooms.all }),
          chart: over(t('page.connections'), ({ active }) => active),
        },
        {
          label: t('overview.streamsLive'),
          value: streams === null ? null : <Link href={to('live-streams', { status: 'LIVE' })}>{streams}</Link>,
        },
        {
          label: t('overview.messagesASecond'),
          value: decimal(messagesPerSecond(minutes, asOf)),
          note: chat && t('overview.messagesTotal', { day: chat.last24h, all: chat.total }),
          chart: over(t('words.messages'), ({ messages }) => messages),
        },
        {
          label: t('overview.deliveriesLastHour'),
          value: <Link href={to('webhooks')}>{count(sum(({ deliveries }) => deliveries.delivered))}</Link>,
          note: t('overview.attemptsFailed', { count: failedDeliveries }),
          chart: over(t('overview.deliveries'), ({ deliveries }) => deliveries.delivered + deliveries.failed),
        },
        {
          label: t('overview.errorsLastHour'),
          value: <Link href={to('errors')}>{count(sum(errorsOf))}</Link>,
          chart: over(t('page.errors'), errorsOf),
        },
        {
          label: t('overview.joinSuccess'),
          value: connections.successRate === null ? null : percent(connections.successRate),
          note: t('overview.someFailed', { number: connections.failed }),
          chart: over(t('overview.joins'), ({ succeeded }) => succeeded),
        },
      ]}
    />
  );
}

/** Over the last full minute and what has passed of this one: neither jumps when a minute ends. */
function messagesPerSecond(minutes: readonly MetricsPoint[], asOf: string): number {
  const [before, last] = [minutes.at(-2), minutes.at(-1)];
  if (!before || !last) return 0;
  return (before.messages + last.messages) / Math.max(60, (Date.parse(asOf) - Date.parse(before.at)) / 1_000);
}

const errorsOf = ({ errors }: MetricsPoint): number => Object.values(errors).reduce((sum, amount) => sum + amount, 0);

function useRoomsNow(): { busy: string; all: string; people: string } | null {
  const api = useApi();
  const { project, environment } = useProject();
  const rooms = usePaged(roomKeys.list(project.id, environment), (page, signal) =>
    api.request('listProjectRooms', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  if (!rooms.data) return null;
  const written = (amount: number): string =>
    rooms.hasNextPage ? t('overview.orMore', { number: amount }) : count(amount);
  const counts = rooms.data.map(({ participantCount }) => participantCount ?? 0);
  const people = counts.reduce((sum, amount) => sum + amount, 0);
  return {
    busy: written(counts.filter((amount) => amount > 0).length),
    all: written(counts.length),
    people: written(people),
  };
}

const streamsMax = 100;

function useStreamsNow(): string | null {
  const api = useApi();
  const { project, environment, may } = useProject();
  const { data } = useQuery({
    queryKey: streamKeys.list(project.id, environment, { now: true }),
    queryFn: ({ signal }): Promise<LiveStream[]> =>
      api.call(
        'listProjectLiveStreams',
        { projectId: project.id, query: { environment, status: 'LIVE', limit: streamsMax } },
        { signal },
      ),
    enabled: may('live_stream:read'),
    refetchInterval: pollUnlessFed,
  });
  if (!data) return null;
  return data.length < streamsMax ? count(data.length) : t('overview.orMore', { number: data.length });
}

function useChatTotal() {
  const { project, environment } = useProject();
  return useQuery(chatOverviewQuery(useApi(), project.id, environment)).data?.messages;
}
