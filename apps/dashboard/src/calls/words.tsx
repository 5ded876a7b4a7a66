import type { CallStep, CallTrack } from '@parley/contract';
import { Badge, type Tone } from '../kit/badge.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { decimal } from '../kit/numbers.ts';

/** The words of the MOS scale; the first whose bound is reached. */
const grades: readonly { from: number; word: string; tone: Tone }[] = [
  { from: 4, word: 'good', tone: 'ok' },
  { from: 3, word: 'fair', tone: 'warn' },
  { from: 2, word: 'poor', tone: 'bad' },
];
const worstGrade = { word: 'bad', tone: 'bad' } as const;

/** From 1 to 5, in a colour and in a word. */
export function Score({ score }: { score: number | null }) {
  if (score === null) return <NoData />;
  const { word, tone } = grades.find(({ from }) => score >= from) ?? worstGrade;
  return (
    <Badge tone={tone} shape={tone === 'ok' ? 'dot' : 'square'}>
      {decimal(score)}, {word}
    </Badge>
  );
}

const sourceWords: Readonly<Record<string, string>> = {
  MICROPHONE: 'microphone',
  CAMERA: 'camera',
  SCREEN_SHARE: 'screen',
  SCREEN_SHARE_AUDIO: 'sound of the screen',
};

export const trackWords = ({ publisher, source, kind }: Pick<CallTrack, 'publisher' | 'source' | 'kind'>): string => {
  const what = sourceWords[source ?? ''] ?? (kind === 'audio' ? 'sound' : 'picture');
  return publisher === null ? what : `${publisher}, ${what}`;
};

/** Steps that are drawn in a lane, and how. */
const marks: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  'join.succeeded': ['Joined', 'ok'],
  left: ['Left', 'plain'],
  'track.published': ['Published', 'accent'],
  'track.unpublished': ['Unpublished', 'plain'],
  'track.muted': ['Muted', 'plain'],
  'track.unmuted': ['Unmuted', 'plain'],
  'track.subscribed': ['Receives', 'accent'],
  'signaling.disconnected': ['Cut off', 'warn'],
  'signaling.reconnected': ['Came back', 'warn'],
  'ice.restarted': ['New path', 'warn'],
};

/** What a step is called; null for those that are only in the list. */
export function markOf({ type }: CallStep): readonly [word: string, tone: Tone] | null {
  if (/failed|denied/.test(type) || type === 'error') return [type, 'bad'];
  return marks[type] ?? null;
}
