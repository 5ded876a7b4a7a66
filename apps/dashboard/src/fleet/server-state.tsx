import type { RtcServer, RtcServerStatus } from '@parley/contract';
import { Badge, type Tone } from '../kit/badge.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { duration, inUtc, useNow } from '../kit/time.tsx';

const words: Readonly<Record<RtcServerStatus, readonly [string, Tone, 'dot' | 'ring' | 'square']>> = {
  ACTIVE: ['Active', 'ok', 'dot'],
  DRAINING: ['Draining', 'warn', 'ring'],
  DRAINED: ['Drained', 'plain', 'ring'],
  OFFLINE: ['Lost', 'bad', 'square'],
};

export function ServerState({ status }: { status: RtcServerStatus }) {
  const [word, tone, shape] = words[status];
  return (
    <Badge tone={tone} shape={shape}>
      {word}
    </Badge>
  );
}

const [lateSeconds, lostSeconds] = [15, 30];

/** How long ago a node spoke: late at 15 s, lost at 30 s. */
export function Heartbeat({ server: { lastHeartbeatAt } }: { server: RtcServer }) {
  const now = useNow();
  if (lastHeartbeatAt === null) return <NoData />;
  const seconds = Math.max(0, (now - Date.parse(lastHeartbeatAt)) / 1000);
  const tone = seconds >= lostSeconds ? 'bad' : seconds >= lateSeconds ? 'warn' : 'plain';
  return (
    <time dateTime={lastHeartbeatAt} title={inUtc(lastHeartbeatAt)} className="aged" data-tone={tone}>
      {duration(seconds)} ago{tone === 'bad' ? ', lost' : tone === 'warn' ? ', late' : ''}
    </time>
  );
}
