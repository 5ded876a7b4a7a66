import type { Alert, AlertKindName, AlertState, UsageMeterName } from '@parley/contract';
import type { Key } from '../i18n/catalogue.ts';
import { Badge } from '../kit/badge.tsx';
import { NoData } from '../kit/empty-state.tsx';
import { decimal } from '../kit/numbers.ts';
import { t } from './texts.ts';

export const kindLabels = {
  JOIN_SUCCESS_BELOW: 'alerts.joinsFail',
  WEBHOOK_FAILING: 'alerts.webhookFailing',
  NODE_OFFLINE: 'alerts.nodeOffline',
  USAGE_ABOVE: 'alerts.usageAbove',
} as const satisfies Record<AlertKindName, Key>;

export const stateLabels = {
  OK: 'alerts.ok',
  FIRING: 'alerts.firing',
  SILENCED: 'alerts.silenced',
} as const satisfies Record<AlertState, Key>;

/** A bound on bytes is given in GB. */
export const meterUnits = {
  messages: { label: 'words.messages', amount: 'alerts.messages', moreThan: 'alerts.moreMessages', per: 1 },
  minutes: { label: 'alerts.minutesOf', amount: 'alerts.minutes', moreThan: 'alerts.moreMinutes', per: 1 },
  recordedMinutes: {
    label: 'alerts.recordedMinutesOf',
    amount: 'alerts.recordedMinutes',
    moreThan: 'alerts.moreRecordedMinutes',
    per: 1,
  },
  storedBytes: { label: 'alerts.filesStored', amount: 'alerts.gbStored', moreThan: 'alerts.moreGbStored', per: 1e9 },
  sentBytes: { label: 'alerts.bytesSent', amount: 'alerts.gbSent', moreThan: 'alerts.moreGbSent', per: 1e9 },
} as const satisfies Record<UsageMeterName, { label: Key; amount: Key; moreThan: Key; per: number }>;

export function AlertBadge({ state }: { state: AlertState }) {
  const looks = {
    OK: { tone: 'ok', shape: 'dot' },
    FIRING: { tone: 'bad', shape: 'square' },
    SILENCED: { tone: 'plain', shape: 'ring' },
  } as const;
  return <Badge {...looks[state]}>{t(stateLabels[state])}</Badge>;
}

const percents = (value: number): string => t('kit.percent', { value: decimal(value) });

const amountWords = (value: number, { kind, meter }: Alert): string => {
  if (kind === 'JOIN_SUCCESS_BELOW') return percents(value);
  if (kind === 'WEBHOOK_FAILING') return t('alerts.failures', { count: value });
  if (kind === 'NODE_OFFLINE') return t('alerts.nodes', { count: value });
  const { amount, per } = meterUnits[meter ?? 'messages'];
  return t(amount, { count: value / per });
};

/** What an alert waits for. */
export function conditionWords(alert: Alert): string {
  const { kind, bound, windowMinutes, period, target } = alert;
  switch (kind) {
    case 'JOIN_SUCCESS_BELOW':
      return t('alerts.joinsUnder', { percent: percents(bound ?? 0), minutes: windowMinutes ?? 0 });
    case 'WEBHOOK_FAILING':
      return t('alerts.failuresInARow', { count: bound ?? 0, endpoint: target ?? t('alerts.anyEndpoint') });
    case 'NODE_OFFLINE':
      return target === null ? t('alerts.anyNodeOffline') : t('alerts.nodeNamedOffline', { name: target });
    case 'USAGE_ABOVE':
      return t(period === 'DAY' ? 'alerts.overADay' : 'alerts.overAMonth', { amount: amountWords(bound ?? 0, alert) });
  }
}

export function Found({ alert }: { alert: Alert }) {
  const { value, detail } = alert;
  if (value === null) return <NoData />;
  return (
    <span className="two-lines">
      {amountWords(value, alert)}
      {detail !== null && <span className="muted">{detail}</span>}
    </span>
  );
}

export function toldWords({ emails, webhook }: Alert): string {
  const { length } = emails;
  if (length === 0) return t(webhook ? 'alerts.byWebhook' : 'alerts.nobody');
  return t(webhook ? 'alerts.mailAndWebhook' : 'alerts.mailTo', { count: length });
}
