import type { RtcServer, RtcServerLoad } from '@parley/contract';
import { t, withNodes } from '../i18n/t.ts';
import { Chart } from '../kit/chart.tsx';
import { MeterBar } from '../kit/figure.tsx';
import { bitRate, count } from '../kit/numbers.ts';
import { Ago } from '../kit/time.tsx';
import { CoreChart, percentOf } from './cores.tsx';
import { rateOf } from './fleet-page.tsx';

/** How far a drain is. */
export function DrainProgress({ server, drain }: { server: RtcServer; drain: RtcServerLoad['drain'] }) {
  const left = drain?.rooms ?? server.activeRooms;
  const before = drain?.roomsAtStart ?? null;
  return (
    <div className="notice" data-tone="warn" role="status">
      <p>
        {server.drainStartedAt === null
          ? t('fleet.drainingNow')
          : withNodes('fleet.drainingSince', { ago: <Ago at={server.drainStartedAt} /> })}{' '}
        {left === 0
          ? t('fleet.mayBeStopped')
          : before === null || left === null
            ? t('fleet.emptyWhen')
            : t('fleet.leftOf', { left, count: before })}
      </p>
      {left !== null && before !== null && before > 0 && (
        <MeterBar share={(before - left) / before} isLarge isProgress />
      )}
    </div>
  );
}

/** The last hour of a node, by its heartbeats. */
export function LoadCharts({ points }: Pick<RtcServerLoad, 'points'>) {
  return (
    <>
      <Chart
        title={t('fleet.chartCpu')}
        kind="line"
        points={points.map(({ at, cpuPercent, memoryPercent }) => ({ at, values: [cpuPercent, memoryPercent] }))}
        series={['CPU', t('fleet.memory')]}
        format={percentOf}
        max={100}
      />
      <CoreChart points={points} />
      <Chart
        title={t('fleet.chartRooms')}
        kind="line"
        points={points.map(({ at, activeRooms, activeParticipants }) => ({
          at,
          values: [activeRooms, activeParticipants],
        }))}
        series={[t('page.rooms'), t('words.participants')]}
        format={count}
      />
      <Chart
        title={t('fleet.chartTraffic')}
        kind="line"
        points={points.map(({ at, networkInBps, networkOutBps }) => ({ at, values: [networkInBps, networkOutBps] }))}
        series={[t('fleet.in'), t('fleet.out')]}
        format={bitRate}
      />
      <Chart
        title={t('fleet.chartPackets')}
        kind="line"
        points={points.map(({ at, packetsInPerSecond, packetsOutPerSecond }) => ({
          at,
          values: [packetsInPerSecond, packetsOutPerSecond],
        }))}
        series={[t('fleet.in'), t('fleet.out')]}
        format={rateOf}
      />
      <Chart
        title={t('fleet.chartLossBoth')}
        kind="line"
        points={points.map(({ at, lossInPercent, lossOutPercent }) => ({
          at,
          values: [lossInPercent, lossOutPercent],
        }))}
        series={[t('fleet.toNode'), t('fleet.fromNode')]}
        format={percentOf}
      />
    </>
  );
}
