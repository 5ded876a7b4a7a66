import type { Connection } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { t, withNodes } from '../i18n/t.ts';
import { EmptyState } from '../kit/empty-state.tsx';
import { span } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';

const connectionsMax = 200;

/** Who was here when: one lane a participant, one bar a connection. */
export function RoomTimeline({ roomId }: { roomId: string }) {
  const api = useApi();
  const { project, environment } = useProject();
  const query = useQuery({
    queryKey: ['project', project.id, 'room-connections', environment, roomId],
    queryFn: ({ signal }) =>
      api.call(
        'listProjectConnections',
        { projectId: project.id, query: { environment, roomId, limit: connectionsMax } },
        { signal },
      ),
    refetchInterval: pollUnlessFed,
  });
  return (
    <QueryView query={query}>
      {(connections) =>
        connections.length === 0 ? (
          <EmptyState title={t('rooms.nobodyYet')} />
        ) : (
          <Lanes connections={connections} asOf={query.dataUpdatedAt} />
        )
      }
    </QueryView>
  );
}

function Lanes({ connections, asOf }: { connections: readonly Connection[]; asOf: number }) {
  const { to } = useProject();
  const start = Math.min(...connections.map(({ startedAt }) => Date.parse(startedAt)));
  const length = Math.max(1, asOf - start);
  const lanes = Map.groupBy(connections, ({ participantIdentity }) => participantIdentity ?? t('rooms.unknown'));
  return (
    <>
      <p>
        <Link href={to('calls', { room: connections[0]?.roomId ?? '' })}>{t('rooms.inspectCalls')}</Link>
      </p>
      <p className="muted">
        {withNodes('rooms.fromUntilNow', { start: <Time at={new Date(start).toISOString()} /> })}
        {connections.length === connectionsMax && ` ${t('rooms.newestConnections', { number: connectionsMax })}`}
      </p>
      <ul className="lanes" aria-label={t('rooms.connectionsBy')}>
        {[...lanes].map(([identity, stays]) => (
          <li key={identity} className="lane">
            <span className="lane-name">{identity}</span>
            <span className="lane-track">
              {stays.map(({ id, connectionId, startedAt, endedAt, state }) => {
                const from = Date.parse(startedAt);
                const until = endedAt === null ? asOf : Date.parse(endedAt);
                return (
                  <Link
                    key={id}
                    className="lane-bar"
                    data-state={state}
                    href={to(`connections/${connectionId}`)}
                    aria-label={t(endedAt === null ? 'rooms.connectedFor' : 'rooms.wasConnectedFor', {
                      identity,
                      span: span(until - from),
                    })}
                    title={`${span(until - from)}, ${state.toLowerCase()}`}
                    style={{
                      left: `${((from - start) / length) * 100}%`,
                      width: `${((until - from) / length) * 100}%`,
                    }}
                  />
                );
              })}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
