import type { LiveStream, LiveStreamStatus, LiveStreamVisibility } from '@parley/contract';
import { Badge, type Tone } from '../kit/badge.tsx';
import { duration, useNow } from '../kit/time.tsx';

const states: Readonly<
  Record<LiveStreamStatus, readonly [word: string, tone: Tone, shape: 'dot' | 'ring' | 'square']>
> = {
  CREATED: ['Created', 'accent', 'ring'],
  LIVE: ['Live', 'ok', 'dot'],
  ENDED: ['Ended', 'plain', 'square'],
};

export const visibilityWords: Readonly<Record<LiveStreamVisibility, string>> = {
  PUBLIC: 'Public',
  UNLISTED: 'Unlisted',
  PRIVATE: 'Private',
};

/** The state by word and shape; a running stream says for how long. */
export function StreamState({ stream }: { stream: Pick<LiveStream, 'status' | 'startedAt'> }) {
  const [word, tone, shape] = states[stream.status];
  return (
    <Badge tone={tone} shape={shape}>
      {word}
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
