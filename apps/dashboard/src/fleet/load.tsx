import type { RtcServer, RtcServerLoad } from '@parley/contract';
import { Chart } from '../kit/chart.tsx';
import { MeterBar } from '../kit/figure.tsx';
import { bitRate, count, decimal, plural } from '../kit/numbers.ts';
import { Ago } from '../kit/time.tsx';

/** How far a drain is. */
export function DrainProgress({ server, drain }: { server: RtcServer; drain: RtcServerLoad['drain'] }) {
  const left = drain?.rooms ?? server.activeRooms;
  const before = drain?.roomsAtStart ?? null;
  return (
    <div className="notice" data-tone="warn" role="status">
      <p>
        Draining
        {server.drainStartedAt !== null && (
          <>
            {' '}
            since <Ago at={server.drainStartedAt} />
          </>
        )}
        : no new rooms.{' '}
        {left === 0
          ? 'It is empty and may be stopped.'
          : before === null || left === null
            ? 'It is empty when its last room is.'
            : `${count(left)} of ${plural(before, 'room')} left.`}
      </p>
      {left !== null && before !== null && before > 0 && <MeterBar share={(before - left) / before} isLarge />}
    </div>
  );
}

/** The last hour of a node, by its heartbeats. */
export function LoadCharts({ points }: Pick<RtcServerLoad, 'points'>) {
  return (
    <>
      <Chart
        title="CPU and memory, last hour"
        kind="line"
        points={points.map(({ at, cpuPercent, memoryPercent }) => ({ at, values: [cpuPercent, memoryPercent] }))}
        series={['CPU', 'Memory']}
        format={(value) => `${decimal(value)} %`}
        max={100}
      />
      <Chart
        title="Rooms and participants, last hour"
        kind="line"
        points={points.map(({ at, activeRooms, activeParticipants }) => ({
          at,
          values: [activeRooms, activeParticipants],
        }))}
        series={['Rooms', 'Participants']}
        format={count}
      />
      <Chart
        title="Traffic, last hour"
        kind="line"
        points={points.map(({ at, networkInBps, networkOutBps }) => ({ at, values: [networkInBps, networkOutBps] }))}
        series={['In', 'Out']}
        format={bitRate}
      />
    </>
  );
}
