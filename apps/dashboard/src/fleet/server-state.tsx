import type { RtcServer, RtcServerStatus } from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Badge, type Tone } from '../kit/badge.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { duration, inUtc, useNow } from '../kit/time.tsx';

const words: Readonly<Record<RtcServerStatus, readonly [PlainKey, Tone, 'dot' | 'ring' | 'square']>> = {
  ACTIVE: ['words.active', 'ok', 'dot'],
  DRAINING: ['fleet.draining', 'warn', 'ring'],
  DRAINED: ['fleet.drained', 'plain', 'ring'],
  OFFLINE: ['words.lost', 'bad', 'square'],
};

export function ServerState({ status }: { status: RtcServerStatus }) {
  const [word, tone, shape] = words[status];
  return (
    <Badge tone={tone} shape={shape}>
      {t(word)}
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
      {t(tone === 'bad' ? 'fleet.agoLost' : tone === 'warn' ? 'fleet.agoLate' : 'kit.ago', {
        duration: duration(seconds),
      })}
    </time>
  );
}
