import type { DeliveryStatus, WebhookStatus } from '@parley/contract';
import { Badge, type Tone } from '../kit/badge.tsx';
import { plural } from '../kit/numbers.ts';

type Word = readonly [word: string, tone: Tone, shape: 'dot' | 'ring' | 'square'];

const endpointWords: Readonly<Record<WebhookStatus, Word>> = {
  ENABLED: ['Enabled', 'ok', 'dot'],
  DISABLED: ['Disabled', 'plain', 'square'],
  AUTO_DISABLED: ['Disabled by failures', 'bad', 'square'],
};

export const deliveryWords: Readonly<Record<DeliveryStatus, Word>> = {
  PENDING: ['Pending', 'accent', 'ring'],
  RETRYING: ['Retrying', 'warn', 'ring'],
  DELIVERED: ['Delivered', 'ok', 'dot'],
  FAILED: ['Failed', 'bad', 'square'],
  CANCELLED: ['Cancelled', 'plain', 'square'],
};

export const isDeliveryStatus = (text: string): text is DeliveryStatus => Object.hasOwn(deliveryWords, text);

const WordBadge = ({ word: [word, tone, shape] }: { word: Word }) => (
  <Badge tone={tone} shape={shape}>
    {word}
  </Badge>
);

export const EndpointBadge = ({ status }: { status: WebhookStatus }) => <WordBadge word={endpointWords[status]} />;
export const DeliveryBadge = ({ status }: { status: DeliveryStatus }) => <WordBadge word={deliveryWords[status]} />;

export const eventsWords = (events: readonly string[]): string =>
  events.length === 0 ? 'All, including future types' : plural(events.length, 'type');
