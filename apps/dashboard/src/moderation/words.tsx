import type { LinkPolicy, ReportMetadata, Sanction, WordList } from '@parley/contract';
import type { Key } from '../i18n/catalogue.ts';
import { t } from './texts.ts';

export const linkLabels = {
  allowed: 'moderation.linksAllowed',
  moderators: 'moderation.linksModerators',
  forbidden: 'moderation.linksForbidden',
} as const satisfies Record<LinkPolicy, Key>;

export const listActions = {
  reject: 'moderation.reject',
  mask: 'moderation.mask',
  flag: 'moderation.flag',
} as const satisfies Record<WordList['action'], Key>;

const reasons = {
  spam: 'moderation.spam',
  harassment: 'moderation.harassment',
  hate: 'moderation.hate',
  violence: 'moderation.violence',
  sexual: 'moderation.sexual',
  illegal: 'moderation.illegal',
  other: 'moderation.other',
} as const;
const isReason = (text: string): text is keyof typeof reasons => Object.hasOwn(reasons, text);

/** Of users a reason out of seven; of word lists the names of those lists. */
export const reasonWord = ({ source, reason }: ReportMetadata): string =>
  source === 'USER' && isReason(reason) ? t(reasons[reason]) : reason;

const outcomes = {
  none: 'moderation.didNothing',
  delete_message: 'moderation.didDelete',
  mute: 'moderation.didMute',
  ban: 'moderation.didBan',
  shadow: 'moderation.didShadow',
} as const;
const isOutcome = (text: string): text is keyof typeof outcomes => Object.hasOwn(outcomes, text);

export const outcomeWord = ({ action }: ReportMetadata): string | null =>
  action === null ? null : isOutcome(action) ? t(outcomes[action]) : action;

/** How much lists hold together; the words themselves are in the dialog of each. */
export function sizeWords(lists: readonly WordList[]): string {
  const total = (what: 'words' | 'patterns'): number => lists.reduce((sum, list) => sum + (list[what]?.length ?? 0), 0);
  const words = t('moderation.words', { count: total('words') });
  const patterns = t('moderation.patterns', { count: total('patterns') });
  return total('patterns') === 0 ? words : t('moderation.wordsAndPatterns', { words, patterns });
}

const kinds = {
  BAN: 'moderation.kindBan',
  MUTE: 'moderation.kindMute',
  SHADOW: 'moderation.kindShadow',
} as const satisfies Record<Sanction['kind'], Key>;
export const kindWord = ({ kind }: Sanction): string => t(kinds[kind]);

const byWords: Readonly<Record<string, 'moderation.byKey' | 'moderation.byDashboard'>> = {
  server: 'moderation.byKey',
  dashboard: 'moderation.byDashboard',
};

export function ImposedBy({ by }: { by: string }) {
  const word = byWords[by];
  return word === undefined ? <span className="mono">{by}</span> : t(word);
}

export const Sender = ({ id }: { id: string | null }) =>
  id === null ? <span className="muted">{t('moderation.byServer')}</span> : <strong className="mono">{id}</strong>;

const hourMs = 60 * 60 * 1000;

export const spans = () => [
  { value: '1', label: t('moderation.hour') },
  { value: '24', label: t('moderation.day') },
  { value: '168', label: t('moderation.week') },
  { value: '720', label: t('moderation.month') },
  { value: '', label: t('chat.forGood') },
];

/** What a sanction's form gives: until when, and why. */
export function termsOf({ hours, reason }: { hours: string; reason: string }): { until?: string; reason?: string } {
  return {
    ...(hours === '' ? {} : { until: new Date(Date.now() + Number(hours) * hourMs).toISOString() }),
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
  };
}
