import type { LiveStream, LiveStreamStatus, LiveStreamVisibility } from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Badge, type Tone } from '../kit/badge.tsx';
import { duration, useNow } from '../kit/time.tsx';

const states: Readonly<
  Record<LiveStreamStatus, readonly [word: PlainKey, tone: Tone, shape: 'dot' | 'ring' | 'square']>
> = {
  CREATED: ['live-streams.createdState', 'accent', 'ring'],
  LIVE: ['live-streams.liveState', 'ok', 'dot'],
  ENDED: ['words.ended', 'plain', 'square'],
};

const visibilities: Readonly<Record<LiveStreamVisibility, PlainKey>> = {
  PUBLIC: 'live-streams.public',
  UNLISTED: 'live-streams.unlisted',
  PRIVATE: 'live-streams.private',
};

export const visibilityWord = (visibility: LiveStreamVisibility): string => t(visibilities[visibility]);
export const visibilityOptions = (): { value: string; label: string }[] =>
  Object.entries(visibilities).map(([value, label]) => ({ value, label: t(label) }));
export const stateOptions = (): [value: string, label: string][] =>
  Object.entries(states).map(([value, [label]]) => [value, t(label)]);

/** The state by word and shape; a running stream says for how long. */
export function StreamState({ stream }: { stream: Pick<LiveStream, 'status' | 'startedAt'> }) {
  const [word, tone, shape] = states[stream.status];
  return (
    <Badge tone={tone} shape={shape}>
      {t(word)}
      {stream.status === 'LIVE' && stream.startedAt !== null && (
        <>
          {' '}
          <Elapsed since={stream.startedAt} />
        </>
      )}
    </Badge>
  );
}

export function Elapsed({ since }: { since: string }) {
  return duration((useNow() - Date.parse(since)) / 1000);
}

export const startSnippet = (
  streamId: string,
): string => `curl -s -X POST ${location.origin}/v1/live-streams/${streamId}/start \\
  -H "Authorization: Bearer $SVC_API_KEY"`;
