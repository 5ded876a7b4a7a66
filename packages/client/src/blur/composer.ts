import type { Segmenter } from './segmenter.ts';

export interface Composer {
  readonly canvas: HTMLCanvasElement;
  /** Draws one frame with its background blurred. */
  draw(frame: CanvasImageSource, width: number, height: number, timestampMs: number): Promise<void>;
}

/** Small pictures, each half the next, are the blur: the filter of a canvas is missing in Safari. */
const STEPS = 3;

export function createComposer(segmenter: Segmenter, radius: number): Composer {
  const canvas = document.createElement('canvas');
  const small = document.createElement('canvas');
  const context = contextOf(canvas);
  const smallContext = contextOf(small);

  /** Shrinks step by step, so that no pixel is skipped, and leaves the smallest in the corner of `small`. */
  function shrink(frame: CanvasImageSource, width: number, height: number): [width: number, height: number] {
    const smallest = Math.max(2, Math.round(1 / radius));
    let [across, down] = [smallest * 2 ** STEPS, Math.round((smallest * 2 ** STEPS * height) / width)];
    resize(small, across, down);
    smallContext.drawImage(frame, 0, 0, across, down);
    for (let step = 0; step < STEPS; step++) {
      const [half, halfDown] = [Math.ceil(across / 2), Math.ceil(down / 2)];
      smallContext.drawImage(small, 0, 0, across, down, 0, 0, half, halfDown);
      [across, down] = [half, halfDown];
    }
    return [across, down];
  }

  return {
    canvas,
    async draw(frame, width, height, timestampMs) {
      const person = await segmenter.segment(frame, timestampMs);
      resize(canvas, width, height);
      context.globalCompositeOperation = 'copy';
      context.drawImage(person, 0, 0, width, height);
      context.globalCompositeOperation = 'source-in';
      context.drawImage(frame, 0, 0, width, height);
      context.globalCompositeOperation = 'destination-over';
      context.drawImage(small, 0, 0, ...shrink(frame, width, height), 0, 0, width, height);
    },
  };
}

/** Setting a size clears a canvas, even the same one. */
function resize(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser has no canvas to draw on.');
  context.imageSmoothingQuality = 'high';
  return context;
}
