import type { Composer } from './composer.ts';

export interface Pipeline {
  readonly track: MediaStreamTrack;
  stop(): void;
}

/** Insertable streams of Chromium, which TypeScript does not know. */
interface Insertable {
  MediaStreamTrackProcessor?: new (init: { track: MediaStreamTrack }) => { readable: ReadableStream<VideoFrame> };
  MediaStreamTrackGenerator?: new (init: {
    kind: 'video';
  }) => MediaStreamTrack & { writable: WritableStream<VideoFrame> };
}

/** Every frame of the source through `draw`. Insertable streams also run while the page is hidden. */
export function startPipeline(
  source: MediaStreamTrack,
  draw: Composer['draw'],
  canvas: HTMLCanvasElement,
): Promise<Pipeline> {
  const { MediaStreamTrackProcessor: Reader, MediaStreamTrackGenerator: Writer } = globalThis as Insertable;
  if (!Reader || !Writer) return startOnCanvas(source, draw, canvas);
  const track = new Writer({ kind: 'video' });
  const ending = new AbortController();
  const transform = new TransformStream<VideoFrame, VideoFrame>(
    {
      async transform(frame, controller) {
        const { displayWidth, displayHeight, timestamp } = frame;
        try {
          await draw(frame, displayWidth, displayHeight, timestamp / 1000);
          controller.enqueue(new VideoFrame(canvas, { timestamp }));
        } catch {
          // One frame less; a picture without blur would be worse.
        } finally {
          frame.close();
        }
      },
    },
    // The newest frame alone: a slow segmenter must not make the picture late.
    { highWaterMark: 1 },
    { highWaterMark: 0 },
  );
  const { readable } = new Reader({ track: source });
  // Ends with the source, or with `stop()`.
  readable
    .pipeThrough(transform, ending)
    .pipeTo(track.writable, ending)
    .catch(() => track.stop());
  return Promise.resolve({
    track,
    stop() {
      ending.abort();
      track.stop();
    },
  });
}

/** Elsewhere: a video that is not on the page, drawn onto a canvas. */
async function startOnCanvas(
  source: MediaStreamTrack,
  draw: Composer['draw'],
  canvas: HTMLCanvasElement,
): Promise<Pipeline> {
  const video = document.createElement('video');
  Object.assign(video, { muted: true, playsInline: true, srcObject: new MediaStream([source]) });
  await video.play();
  const { videoWidth, videoHeight } = video;
  await draw(video, videoWidth, videoHeight, performance.now());
  const [track] = canvas.captureStream().getVideoTracks();
  if (!track) throw new Error('This browser cannot capture a canvas.');
  let isStopped = false;
  const next = (): void => void video.requestVideoFrameCallback(onFrame);
  async function onFrame(now: number): Promise<void> {
    if (isStopped) return;
    await draw(video, video.videoWidth, video.videoHeight, now).catch(() => {});
    next();
  }
  next();
  return {
    track,
    stop() {
      isStopped = true;
      track.stop();
      video.srcObject = null;
    },
  };
}
