import type { DeliveryStatus, WebhookStatus } from '@parley/contract';
import type { PlainKey } from '../i18n/catalogue.ts';
import { t } from '../i18n/t.ts';
import { Badge, type Tone } from '../kit/badge.tsx';

type Word = readonly [word: PlainKey, tone: Tone, shape: 'dot' | 'ring' | 'square'];

const endpointWords: Readonly<Record<WebhookStatus, Word>> = {
  ENABLED: ['webhooks.enabled', 'ok', 'dot'],
  DISABLED: ['webhooks.disabled', 'plain', 'square'],
  AUTO_DISABLED: ['webhooks.autoDisabled', 'bad', 'square'],
};

export const deliveryWords: Readonly<Record<DeliveryStatus, Word>> = {
  PENDING: ['webhooks.pending', 'accent', 'ring'],
  RETRYING: ['webhooks.retrying', 'warn', 'ring'],
  DELIVERED: ['webhooks.delivered', 'ok', 'dot'],
  FAILED: ['words.failed', 'bad', 'square'],
  CANCELLED: ['webhooks.cancelled', 'plain', 'square'],
};

export const isDeliveryStatus = (text: string): text is DeliveryStatus => Object.hasOwn(deliveryWords, text);

const WordBadge = ({ word: [word, tone, shape] }: { word: Word }) => (
  <Badge tone={tone} shape={shape}>
    {t(word)}
  </Badge>
);

export const EndpointBadge = ({ status }: { status: WebhookStatus }) => <WordBadge word={endpointWords[status]} />;
export const DeliveryBadge = ({ status }: { status: DeliveryStatus }) => <WordBadge word={deliveryWords[status]} />;

export const eventsWords = (events: readonly string[]): string =>
  events.length === 0 ? t('webhooks.allFuture') : t('webhooks.types', { count: events.length });
