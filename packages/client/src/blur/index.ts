import { MediaError } from '../errors.ts';
import type { TrackProcessor } from '../media/track-processor.ts';
import { createComposer } from './composer.ts';
import { startPipeline } from './pipeline.ts';
import type { Segmenter } from './segmenter.ts';

export type { TrackProcessor } from '../media/track-processor.ts';
export type { Segmenter } from './segmenter.ts';

export interface BackgroundBlurOptions {
  /** Finds the person where the browser cannot blur by itself. */
  segmenter?: Segmenter;
  /** Of the picture's width. Default 0.02. */
  radius?: number;
  /** Default true. False: always by the segmenter. */
  preferNative?: boolean;
}

/** Constraint and capability of Media Capture Extensions, which TypeScript does not know yet. */
interface BlurConstraint extends MediaTrackConstraints {
  backgroundBlur?: boolean;
}
interface BlurCapabilities extends MediaTrackCapabilities {
  backgroundBlur?: boolean[];
}

/** Whether browser and camera blur by themselves, without a segmenter. */
export function canBlurNatively(track: MediaStreamTrack): boolean {
  const { backgroundBlur }: BlurCapabilities = track.getCapabilities?.() ?? {};
  return backgroundBlur?.includes(true) ?? false;
}

/** Whose blur a camera has on: one that was replaced turns nothing off. */
const owners = new WeakMap<MediaStreamTrack, object>();

async function startNative(source: MediaStreamTrack): Promise<() => void> {
  const owner = {};
  await source.applyConstraints(withBlur(source, true));
  owners.set(source, owner);
  return () => {
    if (owners.get(source) !== owner) return;
    owners.delete(source);
    source.applyConstraints(withBlur(source, false)).catch(() => {});
  };
}

/** Blurs what is behind the person: `camera.setProcessor(backgroundBlur({ segmenter }))`. */
export function backgroundBlur(options: BackgroundBlurOptions = {}): TrackProcessor {
  const { segmenter, radius = 0.02, preferNative = true } = options;
  let stop = (): void => {};

  async function start(source: MediaStreamTrack): Promise<MediaStreamTrack> {
    if (preferNative && canBlurNatively(source)) {
      stop = await startNative(source);
      return source;
    }
    if (!segmenter) throw notSupported();
    const composer = createComposer(segmenter, radius);
    const pipeline = await startPipeline(source, composer.draw, composer.canvas);
    stop = pipeline.stop;
    return pipeline.track;
  }

  return {
    name: 'background-blur',
    start,
    stop() {
      stop();
      stop = () => {};
    },
  };
}

/** New constraints replace the old ones: size and frame rate must stay. */
const withBlur = (source: MediaStreamTrack, backgroundBlur: boolean): BlurConstraint => ({
  ...source.getConstraints(),
  backgroundBlur,
});

const notSupported = (): MediaError =>
  new MediaError({
    code: 'blur_not_supported',
    message: 'The background cannot be blurred in this browser. Use another browser, or go on without it.',
  });
