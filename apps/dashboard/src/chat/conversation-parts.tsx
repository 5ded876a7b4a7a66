import type { ConversationOverview } from '@parley/contract';
import { t, withNodes } from '../i18n/t.ts';
import { span } from '../kit/numbers.ts';
import { Time } from '../kit/time.tsx';

/** What is pinned, asked and planned in a conversation, in numbers: rows of its facts. */
export const partsOf = ({ slowModeSeconds, pins, polls, scheduled }: ConversationOverview) =>
  [
    [
      t('chat.slowMode'),
      slowModeSeconds === 0 ? t('chat.slowOff') : t('chat.slowEvery', { duration: span(slowModeSeconds * 1_000) }),
    ],
    [t('chat.pins'), t('chat.ofMax', { value: pins.count, max: pins.max })],
    [t('chat.polls'), <Polls key="p" {...polls} />],
    [t('chat.scheduled'), <Scheduled key="s" {...scheduled} />],
  ] as const;

const None = () => <span className="no-data">{t('words.none')}</span>;

function Polls({ open, closed, voters, isCapped }: ConversationOverview['polls']) {
  const value = open + closed;
  if (value === 0) return <None />;
  return (
    <>
      <div>{t('chat.pollCounts', { open, closed, votes: t('chat.votes', { count: voters }) })}</div>
      {isCapped && <div className="muted">{t('chat.newestOnly', { value })}</div>}
    </>
  );
}

function Scheduled({ waiting, failed, nextAt, isCapped }: ConversationOverview['scheduled']) {
  const value = waiting + failed;
  if (value === 0) return <None />;
  return (
    <>
      <div>{failed === 0 ? t('chat.waiting', { waiting }) : t('chat.waitingFailed', { waiting, failed })}</div>
      {isCapped && <div className="muted">{t('chat.firstOnly', { value })}</div>}
      {nextAt !== null && <div className="muted">{withNodes('chat.nextAt', { time: <Time at={nextAt} /> })}</div>}
    </>
  );
}
