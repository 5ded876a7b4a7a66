import type { MediaEvents } from '@parley/contract/media-control';
import type { MediaEntry } from '@parley/media-description';
import type { Publication } from './publication.ts';
import type { Subscription } from './subscription.ts';

export type StreamState = Omit<MediaEvents['stream.state'], 'room' | 'participant'>;

/** One m-line toward the subscriber. It is used again for another track once its track ended. */
export interface Slot {
  mid: string;
  kind: 'audio' | 'video';
  use: { publication: Publication; subscription: Subscription; streamId: string } | undefined;
  entry: MediaEntry;
  isDirty: boolean;
  isAnswered: boolean;
  told: StreamState | undefined;
}
