import type { MediaEvents } from '@parley/contract/media-control';
import {
  type Codec,
  DEFAULT_EXTENSIONS,
  type ExtensionName,
  type Extensions,
  type MediaEntry,
} from '@parley/media-description';
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
  /** Of a line that the client laid down: what it can carry, and the SSRC that it keeps. */
  fixed?: { ssrc: number; codecs: Codec[]; extensions: Extensions; last?: Subscription };
}

/** A line of a client that offers what it wants to receive. */
export function fixedSlot(offered: MediaEntry & { kind: 'audio' | 'video' }, ssrc: number): Slot {
  const { mid, kind, codecs = [] } = offered;
  const entry: MediaEntry = { mid, kind, direction: 'sendonly' };
  return {
    mid,
    kind,
    use: undefined,
    entry,
    isDirty: false,
    isAnswered: true,
    told: undefined,
    fixed: { ssrc, codecs, extensions: sharedExtensions(offered) },
  };
}

export const canReceive = (entry: MediaEntry): entry is MediaEntry & { kind: 'audio' | 'video' } =>
  entry.kind !== 'data' && /^(recvonly|sendrecv)$/.test(entry.direction) && (entry.codecs?.length ?? 0) > 0;

/** What we answer to an offered line: everything it can carry on ours, nothing on any other. */
export function answeredLine(offered: MediaEntry, slot: Slot | undefined): MediaEntry {
  const { mid, kind } = offered;
  if (!slot?.fixed) return { mid, kind, direction: 'inactive', codecs: [] };
  const { ssrc, codecs, extensions } = slot.fixed;
  const hasRtx = codecs.some(({ rtx }) => rtx !== undefined);
  return {
    mid,
    kind,
    direction: 'sendonly',
    trackId: `line-${mid}`,
    streamId: 'room',
    codecs,
    extensions,
    ssrcs: hasRtx ? [ssrc, ssrc + 1] : [ssrc],
  };
}

/** What both sides have, with the ids of the client, as long as they fit the short heads that we write. */
function sharedExtensions({ kind, extensions: offered = DEFAULT_EXTENSIONS[kind] }: MediaEntry): Extensions {
  const ours = Object.keys(DEFAULT_EXTENSIONS[kind]) as ExtensionName[];
  return Object.fromEntries(ours.flatMap((name) => ((offered[name] ?? 15) < 15 ? [[name, offered[name]]] : [])));
}
