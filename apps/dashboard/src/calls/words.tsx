import type { CallStep, CallTrack } from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Badge, type Tone } from '../kit/badge.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { decimal } from '../kit/numbers.ts';

/** The words of the MOS scale; the first whose bound is reached. */
const grades: readonly { from: number; word: PlainKey; tone: Tone }[] = [
  { from: 4, word: 'calls.good', tone: 'ok' },
  { from: 3, word: 'calls.fair', tone: 'warn' },
  { from: 2, word: 'calls.poor', tone: 'bad' },
];
const worstGrade = { word: 'calls.bad', tone: 'bad' } as const;

/** From 1 to 5, in a colour and in a word. */
export function Score({ score }: { score: number | null }) {
  if (score === null) return <NoData />;
  const { word, tone } = grades.find(({ from }) => score >= from) ?? worstGrade;
  return (
    <Badge tone={tone} shape={tone === 'ok' ? 'dot' : 'square'}>
      {t('calls.scoreWord', { score: decimal(score), word: t(word) })}
    </Badge>
  );
}

const sourceWords: Readonly<Record<string, PlainKey>> = {
  MICROPHONE: 'calls.sourceMicrophone',
  CAMERA: 'calls.sourceCamera',
  SCREEN_SHARE: 'calls.sourceScreen',
  SCREEN_SHARE_AUDIO: 'calls.sourceScreenSound',
};

export const trackWords = ({ publisher, source, kind }: Pick<CallTrack, 'publisher' | 'source' | 'kind'>): string => {
  const what = t(sourceWords[source ?? ''] ?? (kind === 'audio' ? 'calls.sourceSound' : 'calls.sourcePicture'));
  return publisher === null ? what : t('calls.trackOf', { publisher, source: what });
};

/** Steps that are drawn in a lane, and how. */
const marks: Readonly<Record<string, readonly [word: PlainKey, tone: Tone]>> = {
  'join.succeeded': ['words.joined', 'ok'],
  left: ['calls.left', 'plain'],
  'track.published': ['calls.published', 'accent'],
  'track.unpublished': ['calls.unpublished', 'plain'],
  'track.muted': ['calls.muted', 'plain'],
  'track.unmuted': ['calls.unmuted', 'plain'],
  'track.subscribed': ['calls.receives', 'accent'],
  'signaling.disconnected': ['calls.cutOff', 'warn'],
  'signaling.reconnected': ['calls.cameBack', 'warn'],
  'ice.restarted': ['calls.newPath', 'warn'],
};

/** What a step is called; null for those that are only in the list. */
export function markOf({ type }: CallStep): readonly [word: string, tone: Tone] | null {
  if (/failed|denied/.test(type) || type === 'error') return [type, 'bad'];
  const mark = marks[type];
  return mark ? [t(mark[0]), mark[1]] : null;
}
