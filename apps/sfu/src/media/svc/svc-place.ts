import type { CodecName } from '@parley/media-description';
import { extensionLength, findExtension, type RtpView } from '../rtp.ts';
import { type DependencyFrame, DependencyReader } from './dependency-descriptor.ts';
import { DTI } from './dependency-structure.ts';
import { readVp9Layers } from './vp9-layers.ts';

/** Above every spatial layer there is. */
export const EVERY_LAYER = 7;
/** The layer of packets without content, with which browsers probe their path: they are of no frame. */
export const PADDING = -1;

/** Where a packet stands among the spatial layers of a stream that carries several (SVC). */
export interface SvcPlace {
  spatial: number;
  /** It is the last packet of its frame. */
  isEnd: boolean;
  /** Its content was left out on the way here: only its number came. */
  isBare: boolean;
  /** Undefined: the payload alone says where it belongs. */
  frame: DependencyFrame | undefined;
}

/** One stream of VP9 or AV1: finds out which layers there are, and which packets are of which. */
export class SvcStream {
  #reader = new DependencyReader();
  readonly #codec: CodecName;
  /** Spatial layers; undefined until a key frame said it. */
  count: number | undefined;

  constructor(codec: CodecName) {
    this.#codec = codec;
  }

  get sizes(): readonly { width: number; height: number }[] {
    return this.#reader.structure?.sizes ?? [];
  }

  /** The source began anew. */
  restart(): void {
    this.#reader = new DependencyReader();
  }

  read(view: RtpView, descriptorId: number | undefined, isKeyFrame: boolean): SvcPlace {
    const isBare = view.payloadEnd === view.payloadStart;
    const at = findExtension(view, descriptorId);
    const frame = at < 0 ? undefined : this.#reader.read(view.buffer, at, extensionLength);
    if (frame) {
      this.count = frame.structure.spatialLayers;
      return { spatial: frame.spatial, isEnd: frame.isEnd, isBare, frame };
    }
    if (isBare) return { spatial: PADDING, isEnd: false, isBare, frame };
    // Without a descriptor AV1 is forwarded whole.
    if (this.#codec !== 'VP9') {
      if (at < 0 && isKeyFrame) this.count = 1;
      return { spatial: 0, isEnd: view.marker, isBare, frame };
    }
    const { spatial, isEnd, count } = readVp9Layers(view.buffer, view.payloadStart, view.payloadEnd);
    if (count !== undefined) this.count = count;
    else if (isKeyFrame && at < 0) this.count = 1;
    return { spatial, isEnd, isBare, frame };
  }
}

/** Whether who gets this spatial layer, at its full frame rate, gets the packet. */
export function isForLayer({ spatial, frame }: SvcPlace, layer: number): boolean {
  if (!frame) return spatial <= layer;
  const target = frame.structure.targetFor(layer, EVERY_LAYER, frame.structure.allTargets);
  return frame.dtis[target] !== DTI.NOT_PRESENT;
}
